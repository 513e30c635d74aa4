import Cryptography
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
      var key: SymmetricKey?
      if settings.isDataEncrypted {
        key = DataEncryption(KeyRing(root: try folder.givenKey(environment: environment))).files
      }
      try FilesAssembly.checkForm(settings, key: key)
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
}
