import Cryptography
import Files
import FoundationEssentials
import Model
package import Storage

/// The `convert-files` command: brings the stored files into the form that `data.encryption` says.
package struct ConvertFilesCommand {
  /// The paths that a message names.
  private static let namedMax = 20

  private let settings: Settings
  private let progress: WorkProgress
  private let environment: [String: String]

  package init(
    _ settings: Settings, progress: WorkProgress = .ignored,
    environment: [String: String] = ProcessInfo.processInfo.environment
  ) {
    self.settings = settings
    self.progress = progress
    self.environment = environment
  }

  /// - Returns: what was done, for the operator.
  package func run() throws(StartFailure) -> String {
    let folder = FilesAssembly.folder(settings)
    guard FileManager.default.fileExists(atPath: folder) else {
      return "There are no files in \(folder) yet."
    }
    let form = settings.isDataEncrypted ? "encrypted" : "decrypted"
    if !settings.isDataEncrypted {
      do throws(FileForm.Fault) {
        try FileForm(folder: folder).check(nil)
        return "The files in \(folder) are not encrypted."
      } catch {
        guard
          [.encrypted, .unrecorded, .converting(encrypts: true), .converting(encrypts: false)]
            .contains(error)
        else { throw StartFailure(.dataFolder, DataEncryption.text(error, folder: folder)) }
      }
    }
    let keys = try DataEncryption.keys(
      of: DataFolder(path: settings.dataFolder), environment: environment,
      need: "`larder convert-files` needs")
    let conversion = FileConversion(
      folder: folder, key: keys.files, encrypts: settings.isDataEncrypted,
      random: { UInt64.random(in: 0...UInt64.max) }, progress: progress)
    do throws(FileConversion.Fault) {
      let count = try conversion.run { Store.isInUse(folder: settings.dataFolder) }
      return "\(count.counted("file")) in \(folder) \(count == 1 ? "was" : "were") \(form)."
    } catch {
      throw StartFailure(.dataFolder, text(error, folder: folder))
    }
  }

  private func text(_ fault: FileConversion.Fault, folder: String) -> String {
    switch fault {
    case .inUse:
      "A service uses the data folder \(settings.dataFolder). Stop it, and run the command again."
    case .otherKey: DataEncryption.text(.otherKey, folder: folder)
    case .otherDirection(let encrypts):
      DataEncryption.text(.converting(encrypts: encrypts), folder: folder)
    case .foreign(let paths):
      "Among the files in \(folder) are links or other things that are not Larder's: "
        + paths.prefix(Self.namedMax).joined(separator: ", ")
        + (paths.count > Self.namedMax ? " and \(paths.count - Self.namedMax) more" : "")
        + ". Move them away, put the content of linked folders in place of the links, and run the "
        + "command again. Nothing was converted."
    case .failed(let path, let reason):
      "\(path) cannot be converted: \(reason). What was converted stays so; run the command again to "
        + "continue. A damaged file can be restored from a backup of the files, or moved away: its "
        + "object can then not be read."
    }
  }
}
