import Testing

@testable import Composition

struct SettingsUntilRestartTests {
  /// The names of the settings that differ, apart from those of examples that need others beside them.
  private static func names(_ old: Settings, _ new: Settings) -> Set<String> {
    Set(SettingTable.changedNames(from: old, to: new))
  }

  @Test(
    "A setting is either taken by a reload, or stays and is named",
    arguments: SettingTable.keys.filter {
      !$0.isSecret || $0.components.last?.hasPrefix("<") == true
    })
  func eachSettingIsDecided(key: SettingKey) throws {
    let running = try SettingsFixture(yaml: "").load().settings
    let loaded = try SettingsFixture(yaml: SettingsReferenceTests.example(of: key)).load()
    let (kept, named) = loaded.keepingUntilRestart(of: running, servesS3: true)
    let changed = Self.names(running, loaded.settings)
    #expect(Set(named) == changed.filter(SettingsUntilRestart.contains))
    let taken = changed.filter { !SettingsUntilRestart.contains($0) }
    #expect(Self.names(running, kept.settings) == taken)
  }

  @Test("Addresses of S3 that were off at the start need a restart")
  func addressesOfS3NeedARestart() throws {
    let running = try SettingsFixture(yaml: "s3: off").load().settings
    let loaded = try SettingsFixture(yaml: "s3: {listen: 127.0.0.1:9000}").load()
    #expect(loaded.keepingUntilRestart(of: running, servesS3: false).names == ["s3.listen"])
    // Without addresses it is served below /s3 at once.
    let below = try SettingsFixture(yaml: "").load()
    #expect(below.keepingUntilRestart(of: running, servesS3: false).names == [])
  }

  @Test("Every name is that of a setting or a section", arguments: SettingsUntilRestart.names)
  func namesExist(name: String) {
    #expect(SettingTable.keys.contains { $0.name == name || $0.name.hasPrefix("\(name).") })
  }

  @Test("The part of a name is not the name of a section")
  func partsAreNoSections() {
    #expect(SettingsUntilRestart.contains("limits.bodyBytes"))
    #expect(SettingsUntilRestart.contains("data.encryption"))
    #expect(!SettingsUntilRestart.contains("listening"))
    #expect(!SettingsUntilRestart.contains("s3"))
    #expect(!SettingsUntilRestart.contains("log.level"))
  }
}
