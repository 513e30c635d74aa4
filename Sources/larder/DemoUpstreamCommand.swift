import ArgumentParser
import Composition
import DemoUpstream

struct DemoUpstreamCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "demo-upstream", abstract: "Runs the film library's GraphQL API alone.")

  @Option(help: "Where to listen, host:port.")
  var listen = "127.0.0.1:4000"

  func run() async throws {
    let parts = listen.split(separator: ":")
    guard parts.count == 2, let port = Int(parts[1]), (0...65_535).contains(port) else {
      throw ValidationError("--listen takes host:port, not \(listen).")
    }
    let upstream = try await DemoCommand.start(host: String(parts[0]), port: port)
    StandardStreams.output("demo upstream listening on \(upstream.url)")
    try await ServiceRun.untilStopped([upstream.service])
  }
}
