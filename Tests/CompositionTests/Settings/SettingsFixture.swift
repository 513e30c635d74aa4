import Testing

@testable import Composition

/// Settings of a test.
struct SettingsFixture {
  var yaml = ""
  var environment: [String: String] = [:]
  var flags: [SettingsSources.Flag] = []
  var fileName = "larder.yaml"

  var sources: SettingsSources {
    SettingsSources(
      file: .init(name: fileName, text: yaml), environment: environment, flags: flags)
  }

  func load(requiring required: [String] = []) throws -> LoadedSettings {
    try Settings.load(from: sources, requiring: required)
  }

  /// Each fault as `place: message`, without excerpts.
  func faults(requiring required: [String] = []) -> [String] {
    do throws(SettingsFaults) {
      _ = try Settings.load(from: sources, requiring: required)
      return []
    } catch {
      return error.faults.map { "\($0.place): \($0.message)" }
    }
  }

  /// The text that an operator would see.
  func report() -> String {
    do throws(SettingsFaults) {
      _ = try Settings.load(from: sources)
      return ""
    } catch {
      return error.description
    }
  }
}
