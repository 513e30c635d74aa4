import Foundation
import Testing

@testable import Composition

/// `larder restore`, from settings to messages. What happens to files is tested beside the store.
struct RestoreCommandTests {
  private static let key = String(repeating: "ab", count: 32)

  private let folder: String

  init() throws {
    folder =
      FileManager.default.temporaryDirectory.appending(path: "larder-restore-\(UUID())").path
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
  }

  private func run(
    _ backup: String, replaces: Bool = false, environment: [String: String] = [:],
    change: (inout Settings) -> Void = { _ in }
  ) -> Result<String, StartFailure> {
    var settings = Settings(folder: folder)
    change(&settings)
    let command = RestoreCommand(
      settings, backup: "\(folder)/\(backup)", replaces: replaces, environment: environment)
    do throws(StartFailure) {
      return .success(try command.run())
    } catch {
      return .failure(error)
    }
  }

  private func failure(_ result: Result<String, StartFailure>) -> StartFailure? {
    if case .failure(let failure) = result { failure } else { nil }
  }

  @Test("A backup that does not exist is named, and no folder is made")
  func namesAMissingBackup() throws {
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let failure = try #require(self.failure(run("nothing.sqlite")))
    #expect(failure.kind == .noInput)
    #expect(failure.description.contains("\(folder)/nothing.sqlite"))
    #expect(failure.description.hasSuffix("Nothing was restored."))
    #expect(!FileManager.default.fileExists(atPath: "\(folder)/data"))
  }

  @Test("A file that is no backup is refused, and leaves an empty folder")
  func refusesOtherFiles() throws {
    defer { try? FileManager.default.removeItem(atPath: folder) }
    try Data("hello".utf8).write(to: URL(filePath: "\(folder)/a.txt"))
    let failure = try #require(self.failure(run("a.txt")))
    #expect(failure.kind == .faultyOperations)
    #expect(failure.description.contains("is not a backup of Larder"))
    #expect(try FileManager.default.contentsOfDirectory(atPath: "\(folder)/data") == [])
  }

  @Test("A folder with a database is refused with the way to replace it")
  func refusesToReplace() throws {
    defer { try? FileManager.default.removeItem(atPath: folder) }
    try FileManager.default.createDirectory(
      atPath: "\(folder)/data", withIntermediateDirectories: true)
    try Data("precious".utf8).write(to: URL(filePath: "\(folder)/data/larder.sqlite"))
    try Data("hello".utf8).write(to: URL(filePath: "\(folder)/a.txt"))
    let failure = try #require(self.failure(run("a.txt")))
    #expect(failure.kind == .dataFolder)
    #expect(failure.description.contains("--force"))
    // With --force the backup is still verified first.
    let forced = try #require(self.failure(run("a.txt", replaces: true)))
    #expect(forced.description.contains("is not a backup of Larder"))
    #expect(
      try String(contentsOfFile: "\(folder)/data/larder.sqlite", encoding: .utf8) == "precious")
  }

  @Test("With data.encryption the key must be given")
  func demandsTheKey() throws {
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let failure = try #require(self.failure(run("a") { $0.isDataEncrypted = true }))
    #expect(failure.kind == .faultySettings)
    #expect(failure.description.contains("LARDER_KEY"))
  }
}
