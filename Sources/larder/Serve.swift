import ArgumentParser
import Composition
import DemoUpstream

struct Serve: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Runs the service.")

  @OptionGroup var settings: SettingsOptions

  @Flag(
    help: """
      Also start a demo GraphQL API, and serve its example operations with the settings of the example, \
      not those of ./larder.yaml; --config names others.
      """)
  var demo = false

  @Option(help: "The port of the demo GraphQL API; 0 for any free port.")
  var demoPort = 4000

  @Flag(
    help: """
      Reload operations, schemas, local types and settings when their files change. SIGHUP reloads them in \
      any case.
      """)
  var watch = false

  @Flag(
    help: """
      Wait for the primary of `standby` and follow it, and take over when it has ended; never begin.
      """)
  var standby = false

  func run() async throws {
    defer { ShippedFiles.removeUnpacked() }
    guard demo else {
      return try await ServeCommand(
        settings.load(requiring: ["upstream.url"]), reloading: reloading(settings),
        isStandby: standby
      ).run()
    }
    let upstream = try await DemoCommand.start(host: "127.0.0.1", port: demoPort)
    var options = settings
    options.config = settings.config ?? Examples.filmsSettings
    let demo = [SettingsSources.Flag("upstream.url", spelling: "--demo", value: upstream.url)]
    try await ServeCommand(
      options.load(adding: demo), reloading: reloading(options, adding: demo),
      companions: [upstream.service]
    ) { address in
      DemoCommand.greeting(address: address, upstream: upstream.url)
    }.run()
  }

  private func reloading(
    _ options: SettingsOptions, adding flags: [SettingsSources.Flag] = []
  ) throws -> ServeCommand.Reloading {
    let all = try options.flags() + flags
    return ServeCommand.Reloading(settingsFile: options.config, watchesFiles: watch) {
      [config = options.config] in
      try Workspace.settings(path: config, flags: all, requiring: ["upstream.url"])
    }
  }
}

/// The demo upstream as part of a command.
enum DemoCommand {
  struct Running {
    let url: String
    let service: StoppableService
  }

  static func start(host: String, port: Int) async throws -> Running {
    let server = DemoServer(
      DemoOptions(host: host, port: port, now: { ServiceRun.secondsSince1970() }))
    do {
      try await server.start()
    } catch {
      throw StartFailure(.addressInUse, "The demo upstream cannot listen: \(error).")
    }
    return Running(url: server.url, service: StoppableService { await server.stop() })
  }

  /// The lines that `serve --demo` prints: three commands to try.
  static func greeting(address: String, upstream: String) -> [String] {
    [
      "",
      "Try:",
      "  curl -i \(address)/api/films/f1        # run it twice: the second response is cached",
      "  curl -s \(address)/v1/operations      # lists the operations",
      "  curl -X POST \(upstream.replacing("/graphql", with: "/__demo")) "
        + "-H 'Content-Type: application/json' -d '{\"fail\":\"500\"}'"
        + "   # makes upstream fail; then try again",
      "",
    ]
  }
}

struct DemoUpstreamCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "demo-upstream", abstract: "Runs only the GraphQL API of the demo film library.")

  @Option(help: "The address to listen on, host:port.")
  var listen = "127.0.0.1:4000"

  func run() async throws {
    let parts = listen.split(separator: ":")
    guard parts.count == 2, let port = Int(parts[1]), (0...65_535).contains(port) else {
      throw ValidationError("--listen must be host:port, not \(listen).")
    }
    let upstream = try await DemoCommand.start(host: String(parts[0]), port: port)
    StandardStreams.output("demo upstream listening on \(upstream.url)")
    try await ServiceRun.untilStopped([upstream.service])
  }
}
