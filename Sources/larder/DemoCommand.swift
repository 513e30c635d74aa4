import Composition
import DemoUpstream

/// The demo upstream as a part of a command.
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

  /// Three lines worth trying.
  static func greeting(address: String, upstream: String) -> [String] {
    [
      "",
      "Try:",
      "  curl -i \(address)/api/films/f1        # twice: the second comes from memory",
      "  curl -s \(address)/v1/operations      # what is served",
      "  curl -X POST \(upstream.replacing("/graphql", with: "/__demo")) "
        + "-H 'Content-Type: application/json' -d '{\"fail\":\"500\"}'   # break upstream, ask again",
      "",
    ]
  }
}
