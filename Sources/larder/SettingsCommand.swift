import ArgumentParser
import Composition

struct SettingsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "settings",
    abstract: "Prints the settings in force with their origins; secrets are masked.")

  @OptionGroup var settings: SettingsOptions

  @Flag(help: "Print the reference of all settings, as Markdown.")
  var reference = false

  @Flag(help: "Print JSON.")
  var json = false

  func run() throws {
    guard !reference else { return StandardStreams.output(SettingsReference.markdown) }
    let loaded = try settings.load()
    StandardStreams.output(json ? SettingsDump.json(loaded) : SettingsDump.yaml(loaded))
  }
}

/// The flags of every command that reads settings.
struct SettingsOptions: ParsableArguments {
  @Option(
    name: .long, help: "The settings file (default: ./larder.yaml if it exists).",
    completion: .file(extensions: ["yaml"]))
  var config: String?

  @Option(
    name: .customLong("set"), parsing: .singleValue,
    help: ArgumentHelp(
      "A setting that overrides the file and the environment.", valueName: "name=value"))
  var set: [String] = []

  /// - Throws: a validation error for a `--set` without an equals sign.
  func flags() throws -> [SettingsSources.Flag] {
    try set.map { pair in
      guard let equals = pair.firstIndex(of: "=") else {
        throw ValidationError("--set must be name=value, not \(pair).")
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
