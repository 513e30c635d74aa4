import ArgumentParser
import Composition

struct SettingsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "settings",
    abstract: "Prints the settings in force with their origins, secrets masked.")

  @OptionGroup var settings: SettingsOptions

  @Flag(help: "Prints every setting there is, as Markdown.")
  var reference = false

  func run() throws {
    StandardStreams.output(
      reference ? SettingsReference.markdown : SettingsDump.yaml(try settings.load()))
  }
}
