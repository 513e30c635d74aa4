import ArgumentParser
import Composition

struct Routes: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Lists every path that is served.")

  @OptionGroup var settings: SettingsOptions

  func run() throws {
    let loaded = try settings.load()
    StandardStreams.output(RoutesReport(try Workspace.open(loaded)).text)
  }
}
