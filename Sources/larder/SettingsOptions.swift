import ArgumentParser
import Composition

/// The flags of every command that reads settings.
struct SettingsOptions: ParsableArguments {
  @Option(
    name: .long, help: "The settings file; ./larder.yaml if there is one.",
    completion: .file(extensions: ["yaml"]))
  var config: String?

  @Option(
    name: .customLong("set"), parsing: .singleValue,
    help: ArgumentHelp("A setting over those of file and environment.", valueName: "name=value"))
  var set: [String] = []

  /// - Throws: usage, for a `--set` without an equals sign.
  func flags() throws -> [SettingsSources.Flag] {
    try set.map { pair in
      guard let equals = pair.firstIndex(of: "=") else {
        throw ValidationError("--set takes name=value, not \(pair).")
      }
      let name = String(pair[..<equals])
      return SettingsSources.Flag(
        name, spelling: "--set \(name)", value: String(pair[pair.index(after: equals)...]))
    }
  }

  func load(requiring: [String] = [], adding: [SettingsSources.Flag] = []) throws -> LoadedSettings
  {
    try Workspace.settings(path: config, flags: flags() + adding, requiring: requiring)
  }
}
