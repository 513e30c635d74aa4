import ArgumentParser
import Composition
import DemoUpstream

struct Serve: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Serves the operations.")

  @OptionGroup var settings: SettingsOptions

  @Flag(help: "Starts a film library's GraphQL API too, and serves its example operations.")
  var demo = false

  @Option(help: "The port of the demo's GraphQL API; 0 for any free one.")
  var demoPort = 4000

  func run() async throws {
    guard demo else {
      return try await ServeCommand(settings.load(requiring: ["upstream.url"])).run()
    }
    let upstream = try await DemoCommand.start(host: "127.0.0.1", port: demoPort)
    var options = settings
    options.config = settings.config ?? Examples.filmsSettings
    let loaded = try options.load(
      adding: [SettingsSources.Flag("upstream.url", spelling: "--demo", value: upstream.url)])
    try await ServeCommand(loaded, companions: [upstream.service]) { address in
      DemoCommand.greeting(address: address, upstream: upstream.url)
    }.run()
  }
}
