import FoundationEssentials
import Testing

@testable import Composition

struct SettingsSourcesTests {
  private func withFile<Result>(
    _ bytes: [UInt8], _ body: (_ path: String) throws -> Result
  ) throws -> Result {
    let folder = FileManager.default.temporaryDirectory
      .appending(path: "larder-settings-\(UInt64.random(in: 0 ... .max))")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let file = folder.appending(path: "larder.yaml")
    try Data(bytes).write(to: file)
    return try body(file.path)
  }

  private func faults(path: String) -> [String] {
    do throws(SettingsFaults) {
      _ = try SettingsSources.read(path: path, flags: [])
      return []
    } catch {
      return error.faults.map(\.description)
    }
  }

  @Test("The settings file, the environment and the flags are read")
  func readsAllSources() throws {
    try withFile(Array("data: ./d".utf8)) { path in
      let sources = try SettingsSources.read(
        path: path, flags: [.init("log.level", value: "debug")])
      #expect(sources.file?.name == path)
      #expect(sources.file?.text == "data: ./d")
      #expect(sources.environment == ProcessInfo.processInfo.environment)
      #expect(sources.flags.map(\.value) == ["debug"])
    }
  }

  @Test("A missing settings file is refused if it was named")
  func refusesMissingFile() {
    #expect(
      faults(path: "/nonexistent/larder.yaml") == ["/nonexistent/larder.yaml: does not exist"])
  }

  @Test("A settings file must be UTF-8")
  func refusesInvalidUTF8() throws {
    try withFile([0x61, 0xFF, 0x62]) { path in
      #expect(faults(path: path) == ["\(path): is not UTF-8"])
    }
  }

  @Test("A settings file that is too large is refused")
  func refusesLargeFile() throws {
    try withFile([UInt8](repeating: 0x0A, count: (1 << 20) + 1)) { path in
      #expect(faults(path: path) == ["\(path): is larger than 1MiB"])
    }
  }
}
