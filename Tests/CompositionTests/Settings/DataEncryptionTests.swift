import Foundation
import Testing

@testable import Composition

/// `data.encryption`: its forms, and the key that it needs.
struct DataEncryptionTests {
  private static let key = String(repeating: "ab", count: 32)

  private static func settings(_ folder: String, isEncrypted: Bool = true) -> Settings {
    var settings = Settings(folder: folder)
    settings.isDataEncrypted = isEncrypted
    return settings
  }

  /// An empty folder that the caller removes.
  private static func folder() throws -> String {
    let path = FileManager.default.temporaryDirectory
      .appending(path: "larder-encryption-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(
      atPath: "\(path)/data", withIntermediateDirectories: true)
    return path
  }

  @Test(
    "The folder is written alone, or with its encryption",
    arguments: [
      ("data: ./here", "./here", false), ("data: {path: ./here, encryption: true}", "./here", true),
      ("data: {encryption: true}", "./data", true), ("data: {path: ./here}", "./here", false),
      ("data:\n  path: ./here\n  encryption: false", "./here", false),
    ])
  func forms(yaml: String, folder: String, isEncrypted: Bool) throws {
    let settings = try SettingsFixture(yaml: yaml).load().settings
    #expect(settings.dataFolder == folder)
    #expect(settings.isDataEncrypted == isEncrypted)
  }

  @Test("Variables set folder and encryption apart")
  func variables() throws {
    let settings = try SettingsFixture(
      yaml: "data: {path: ./here, encryption: true}", environment: ["LARDER_DATA": "/there"]
    ).load().settings
    #expect(settings.dataFolder == "/there" && settings.isDataEncrypted)
    let other = try SettingsFixture(environment: ["LARDER_DATA_ENCRYPTION": "true"]).load().settings
    #expect(other.isDataEncrypted)
    #expect(SettingsFixture(yaml: "data: {encryption: maybe}").faults().count == 1)
  }

  @Test("Without LARDER_KEY the fault says what to do with a key that lies in the folder")
  func needsTheKey() throws {
    let folder = try Self.folder()
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let settings = Self.settings(folder)
    func fault() -> String {
      do throws(StartFailure) {
        try DataEncryption.checkKeyIsGiven(settings, environment: [:])
        return ""
      } catch {
        #expect(error.kind == .faultySettings)
        return error.description
      }
    }
    #expect(fault().contains("LARDER_KEY") && fault().contains("openssl rand"))
    let keyFile = "\(folder)/data/larder.key"
    #expect(FileManager.default.createFile(atPath: keyFile, contents: Data(count: 32)))
    #expect(fault().contains("base64 -w0 \(keyFile)"))
    try DataEncryption.checkKeyIsGiven(settings, environment: ["LARDER_KEY": Self.key])
    try DataEncryption.checkKeyIsGiven(
      Self.settings(folder, isEncrypted: false), environment: [:])
  }

  @Test("The doctor reports a missing key, a key in the folder, and what is not encrypted")
  func doctorReports() throws {
    let folder = try Self.folder()
    defer { try? FileManager.default.removeItem(atPath: folder) }
    func findings(_ environment: [String: String], isEncrypted: Bool = true) -> [String] {
      DoctorReport.encryption(
        Self.settings(folder, isEncrypted: isEncrypted), environment: environment
      ).map { "\($0.verdict.rawValue): \($0.text)" }
    }
    #expect(findings([:], isEncrypted: false) == [])
    let missing = findings([:])
    #expect(missing.count == 1 && missing[0].hasPrefix("FAULT: "), "\(missing)")
    let given = findings(["LARDER_KEY": Self.key])
    #expect(given.count == 1 && given[0].contains("the database is not"), "\(given)")
    let keyFile = "\(folder)/data/larder.key"
    #expect(FileManager.default.createFile(atPath: keyFile, contents: Data(count: 32)))
    let both = findings(["LARDER_KEY": Self.key])
    #expect(both.count == 2 && both[1].contains(keyFile), "\(both)")
    // Files that are stored as they are.
    let name = String(repeating: "a", count: 32)
    try FileManager.default.createDirectory(
      atPath: "\(folder)/data/files/objects/aa", withIntermediateDirectories: true)
    try Data([1]).write(to: URL(filePath: "\(folder)/data/files/objects/aa/\(name)"))
    let plain = findings(["LARDER_KEY": Self.key])
    #expect(plain[0].hasPrefix("FAULT: ") && plain[0].contains("convert-files"), "\(plain)")
  }

  @Test("Backups and files are not encrypted with a key that is not the data folder's")
  func commandsNeedTheRightKey() throws {
    let folder = try Self.folder()
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let settings = Self.settings(folder)
    #expect(throws: StartFailure.self) {
      try BackupCommand(settings, path: "\(folder)/copy", environment: [:]).run()
    }
    #expect(!FileManager.default.fileExists(atPath: "\(folder)/copy"))
    #expect(throws: StartFailure.self) {
      try DecryptBackupCommand(source: "\(folder)/a", target: "\(folder)/b", environment: [:]).run()
    }
    let none = try ConvertFilesCommand(settings, environment: [:]).run()
    #expect(none.contains("no files"))
    try FileManager.default.createDirectory(
      atPath: "\(folder)/data/files", withIntermediateDirectories: true)
    #expect(throws: StartFailure.self) {
      try ConvertFilesCommand(settings, environment: [:]).run()
    }
  }
}
