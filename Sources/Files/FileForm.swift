package import Cryptography
import Glibc
import Model
import Storage
import Transport

/// The form in which the files of a folder are stored, recorded in the file `encryption` of the folder:
/// without it, as they are. All methods block.
package struct FileForm: Sendable {
  /// The reason why the files cannot be used as wanted.
  package enum Fault: Error, Hashable, Sendable, CustomStringConvertible {
    /// The files are not encrypted, and should be.
    case plain
    /// The files are encrypted, and should not be.
    case encrypted
    /// The files are encrypted with another key.
    case otherKey
    /// ``FileConversion`` was interrupted.
    case converting(encrypts: Bool)
    /// Nothing is recorded, and the files begin as encrypted ones do.
    case unrecorded
    /// The record cannot be read or written.
    case unreadable(reason: String)

    package var description: String {
      switch self {
      case .plain: "the stored files are not encrypted"
      case .encrypted: "the stored files are encrypted"
      case .otherKey: "the stored files are encrypted with another key"
      case .converting: "the conversion of the stored files was interrupted"
      case .unrecorded: "the stored files seem to be encrypted, and the record of it is missing"
      case .unreadable(let reason): "the record of the files' encryption: \(reason)"
      }
    }
  }

  /// What is recorded.
  enum Record: Hashable {
    case encrypted(check: String)
    /// Each file is either in its old place and form, or converted in `converted`.
    case converting(encrypts: Bool, check: String)
    /// All files are converted, and their folders are moved into place.
    case moving(encrypts: Bool, check: String)
  }

  private static let fileName = "encryption"
  private static let title = "larder files 1"
  private static let recordBytesMax = 1024
  /// Files that are looked at if nothing is recorded.
  private static let sampleMax = 16

  let folder: String
  private var path: String { "\(folder)/\(Self.fileName)" }

  package init(folder: String) {
    self.folder = folder
  }

  /// Checks that the files are stored in the wanted form, or that there are none.
  ///
  /// - Parameter key: nil for files that are stored as they are.
  package func check(_ key: SymmetricKey?) throws(Fault) {
    _ = try change(for: key)
  }

  /// Checks the form, and records the wanted one where there are no files yet. The folder exists.
  func settle(_ key: SymmetricKey?) throws(Fault) {
    if case .record(let record) = try change(for: key) { try set(record) }
  }

  private enum Change {
    case none
    /// Nil for files that are stored as they are.
    case record(Record?)
  }

  private func change(for key: SymmetricKey?) throws(Fault) -> Change {
    switch (try record(), key) {
    case (nil, nil):
      guard try !holdsEncrypted(nil) else { throw .unrecorded }
      return .none
    case (nil, let key?):
      // With a lost record, files of this key are what is wanted.
      if try isEmpty() { return .record(.encrypted(check: Self.check(of: key))) }
      guard try holdsEncrypted(key) else { throw .plain }
      return .record(.encrypted(check: Self.check(of: key)))
    case (.encrypted, nil):
      guard try isEmpty() else { throw .encrypted }
      return .record(nil)
    case (.encrypted(let check), let key?):
      guard check == Self.check(of: key) else { throw .otherKey }
      return .none
    case (.converting(let encrypts, _), _), (.moving(let encrypts, _), _):
      throw .converting(encrypts: encrypts)
    }
  }

  /// Identifies a key without revealing it.
  static func check(of key: SymmetricKey) -> String {
    HKDF<SHA256>.deriveKey(
      inputKeyMaterial: key, info: Array("larder/files/check".utf8), outputByteCount: 16
    ).withUnsafeBytes { Hexadecimal.encode(Array($0)) }
  }

  private func isEmpty() throws(Fault) -> Bool {
    do throws(DiskError) {
      for folder in BlobFolder.folders(below: folder) {
        do throws(DiskError) {
          guard try BlobFolder.files(in: folder).isEmpty else { return false }
        } catch {
          guard error.isAbsent else { throw error }
        }
      }
      return true
    } catch {
      throw .unreadable(reason: "\(error)")
    }
  }

  /// Whether the first files are encrypted, for a folder without a record.
  ///
  /// - Parameter key: whether one of them opens with it decides. Without a key, all must begin as encrypted
  ///   files do: a single one can be a client's copy of an encrypted backup.
  func holdsEncrypted(_ key: SymmetricKey?) throws(Fault) -> Bool {
    do throws(DiskError) {
      var seen = 0
      for folder in BlobFolder.folders(below: folder) {
        let blobs: [BlobName]
        do throws(DiskError) {
          blobs = try BlobFolder.files(in: folder)
        } catch {
          guard error.isAbsent else { throw error }
          continue
        }
        for blob in blobs where seen < Self.sampleMax {
          seen += 1
          let isEncrypted = try Self.isEncrypted("\(folder)/\(blob.text)", key)
          if key == nil, !isEncrypted { return false }
          if key != nil, isEncrypted { return true }
        }
      }
      return key == nil && seen > 0
    } catch {
      throw .unreadable(reason: "\(error)")
    }
  }

  private static func isEncrypted(_ path: String, _ key: SymmetricKey?) throws(DiskError) -> Bool {
    do throws(SystemError) {
      let file = try OpenFile(path: path)
      guard let key else {
        return try file.read(FrameCipher.magic.count, from: 0) == FrameCipher.magic
      }
      // The content of an empty file opens with every key.
      guard let content = try? BlobContent(file, key: key), content.byteCount > 0 else {
        return false
      }
      return (try? content.read(1, from: 0)) != nil
    } catch {
      throw DiskError(error)
    }
  }

  // MARK: The record

  /// - Returns: nil for files that are stored as they are.
  func record() throws(Fault) -> Record? {
    let bytes: [UInt8]
    do throws(SystemError) {
      bytes = try OpenFile(path: path).read(Self.recordBytesMax, from: 0)
    } catch {
      guard error.code != ENOENT else { return nil }
      throw .unreadable(reason: "\(path) cannot be read (\(error))")
    }
    let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
    if lines.count == 3, lines[0] == Self.title {
      switch lines[1] {
      case "encrypted": return .encrypted(check: lines[2])
      case "converting to encrypted": return .converting(encrypts: true, check: lines[2])
      case "converting to plain": return .converting(encrypts: false, check: lines[2])
      case "moving to encrypted": return .moving(encrypts: true, check: lines[2])
      case "moving to plain": return .moving(encrypts: false, check: lines[2])
      default: break
      }
    }
    throw .unreadable(reason: "\(path) is damaged, or of a newer version of Larder")
  }

  /// Replaces the record in one step, synced.
  func set(_ record: Record?) throws(Fault) {
    do throws(DiskError) {
      guard let record else {
        if unlink(path) != 0, errno != ENOENT { throw DiskError("unlink") }
        return try BlobFolder.sync(folder: folder)
      }
      let (state, check): (String, String) =
        switch record {
        case .encrypted(let check): ("encrypted", check)
        case .converting(let encrypts, let check):
          ("converting to \(encrypts ? "encrypted" : "plain")", check)
        case .moving(let encrypts, let check):
          ("moving to \(encrypts ? "encrypted" : "plain")", check)
        }
      let new = "\(path).new"
      if unlink(new) != 0, errno != ENOENT { throw DiskError("unlink") }
      let file = try IncomingFile(making: new)
      try file.write(Array("\(Self.title)\n\(state)\n\(check)\n".utf8))
      try file.sync()
      guard rename(new, path) == 0 else { throw DiskError("rename") }
      try BlobFolder.sync(folder: folder)
    } catch {
      throw .unreadable(reason: "\(path) cannot be written (\(error))")
    }
  }
}
