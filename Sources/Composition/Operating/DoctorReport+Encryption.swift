import Cryptography
import Files
import FoundationEssentials
import Gateway

/// Findings about `data.encryption` and the form of what is stored.
extension DoctorReport {
  static func encryption(
    _ settings: Settings, environment: [String: String]
  ) -> [Finding] {
    let folder = DataFolder(path: settings.dataFolder)
    var findings: [Finding] = []
    do throws(StartFailure) {
      try DataEncryption.checkKeyIsGiven(settings, environment: environment)
      if settings.files.store == .disk { try form(settings, environment: environment) }
      if settings.isDataEncrypted {
        findings.append(
          Finding(
            part: "encryption", verdict: .note,
            text: "files on the disk and backups are encrypted; the database is not: keep "
              + "\(folder.path) on an encrypted disk"))
      }
    } catch {
      findings.append(Finding(part: "encryption", verdict: .bad, text: error.description))
    }
    if settings.isDataEncrypted, let file = folder.keyFile {
      findings.append(
        Finding(
          part: "encryption", verdict: .note,
          text: "\(file) lies in the encrypted folder; keep it elsewhere, or remove it"))
    }
    return findings
  }

  /// Checks that the stored files have the form that the setting says.
  private static func form(
    _ settings: Settings, environment: [String: String]
  ) throws(StartFailure) {
    let folder = FilesAssembly.folder(settings)
    var key: SymmetricKey?
    if settings.isDataEncrypted {
      // The key is given, so none is created.
      let root = try DataFolder(path: settings.dataFolder).key(environment: environment) { 0 }
      key = DataEncryption(KeyRing(root: root)).files
    }
    do throws(FileForm.Fault) {
      try FileForm(folder: folder).check(key)
    } catch {
      throw StartFailure(.dataFolder, DataEncryption.text(error, folder: folder))
    }
  }
}
