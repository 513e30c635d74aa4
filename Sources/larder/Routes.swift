import ArgumentParser
import Composition

struct Routes: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Lists the paths that the operations are served at.")

  @OptionGroup var settings: SettingsOptions

  func run() throws {
    let loaded = try settings.load()
    StandardStreams.output(RoutesReport(try Workspace.open(loaded)).text)
  }
}
