import Cryptography
import Files
import FoundationEssentials
import Gateway
import Model
import Storage

/// The keys of `data.encryption`.
struct DataEncryption {
  /// Encrypts files on the disk.
  let files: SymmetricKey
  let backups: BackupSealing

  /// - Returns: nil if nothing is to be encrypted.
  init?(_ settings: Settings, keys: KeyRing) {
    guard settings.isDataEncrypted else { return nil }
    self.init(keys)
  }

  init(_ keys: KeyRing) {
    files = keys.key(for: .files)
    backups = BackupSealing(key: keys.key(for: .backup)) { UInt64.random(in: 0...UInt64.max) }
  }

  /// Checks that the key comes from outside the folder that it protects.
  static func checkKeyIsGiven(
    _ settings: Settings, environment: [String: String]
  ) throws(StartFailure) {
    guard settings.isDataEncrypted else { return }
    try checkKeyIsGiven(
      in: DataFolder(path: settings.dataFolder), environment: environment,
      need: "`data.encryption: true` needs")
  }

  private static func checkKeyIsGiven(
    in folder: DataFolder, environment: [String: String], need: String
  ) throws(StartFailure) {
    guard environment["LARDER_KEY"] == nil else { return }
    let way =
      folder.keyFile.map {
        "To keep the present key, set LARDER_KEY to what `base64 -w0 \($0)` prints, and move the file "
          + "to a safe place."
      } ?? "Set it to 32 random bytes (`openssl rand -base64 32`), and keep a copy."
    throw StartFailure(
      .faultySettings,
      "\(need) the key in LARDER_KEY: a key file would lie in the folder that it protects. \(way)")
  }

  /// The keys of a data folder, for a command beside the service: those of `LARDER_KEY`, which must be the
  /// key that the folder's database was written with.
  ///
  /// - Parameter need: begins the message if there is no key.
  static func keys(
    of folder: DataFolder, environment: [String: String], need: String
  ) throws(StartFailure) -> DataEncryption {
    try checkKeyIsGiven(in: folder, environment: environment, need: need)
    let keys = KeyRing(root: try folder.givenKey(environment: environment))
    let marker: StoreMarker?
    do throws(StorageError) {
      marker = try Store.marker(folder: folder.path)
    } catch {
      throw StartFailure(.dataFolder, StorageStartError.text(error, folder: folder.path))
    }
    guard marker == nil || marker?.keyDigest == keys.digest else {
      throw StartFailure(
        .faultySettings,
        "The key in LARDER_KEY is not the one of the data folder \(folder.path). Set the right one."
      )
    }
    return DataEncryption(keys)
  }

  /// The message for the operator when the stored files have another form than `data.encryption` says.
  static func text(_ fault: FileForm.Fault, folder: String) -> String {
    switch fault {
    case .plain:
      "The files in \(folder) are not encrypted, and `data.encryption` is true. Run `larder "
        + "convert-files` to encrypt them, or remove the setting."
    case .encrypted:
      "The files in \(folder) are encrypted, and `data.encryption` is not true. Set it, with the key in "
        + "LARDER_KEY, or run `larder convert-files` with the key to decrypt them."
    case .otherKey:
      "The files in \(folder) are encrypted with another key than the one in LARDER_KEY. Set the right "
        + "one."
    case .converting(let encrypts):
      "`larder convert-files` was interrupted, or still runs, in \(folder). Run it to its end, with "
        + "`data.encryption: \(encrypts)`."
    case .unrecorded:
      "The files in \(folder) begin as encrypted ones do, and the record of it, \(folder)/encryption, is "
        + "missing. Set `data.encryption: true`, with the key in LARDER_KEY, or run `larder "
        + "convert-files` with the key to decrypt them."
    case .unreadable(let reason):
      "The folder of files, \(folder), cannot be used: \(reason)."
    }
  }
}
