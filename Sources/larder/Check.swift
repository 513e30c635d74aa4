import ArgumentParser
import Composition

struct Check: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Checks settings, schema and operations, and tells every fault at once.")

  @OptionGroup var settings: SettingsOptions

  func run() throws {
    let loaded = try settings.load()
    StandardStreams.output(CheckReport(try Workspace.open(loaded)).text)
  }
}
