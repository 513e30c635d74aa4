import Dispatch
import LosslessJSON
import TestSupport

@testable import DemoUpstream

/// A demo server on its own port, with a blocking client that waits on its own thread, so that it blocks
/// no thread of the task pool.
struct DemoProbe: Sendable {
  let server: DemoServer

  /// Runs the body with a server, and always stops the server.
  static func with(
    _ options: DemoOptions = DemoOptions(now: { 1_709_194_500 }),
    _ body: (DemoProbe) async throws -> Void
  ) async throws {
    let server = DemoServer(options)
    try await server.start()
    do {
      try await body(DemoProbe(server: server))
    } catch {
      await server.stop()
      throw error
    }
    await server.stop()
  }

  func request(
    _ method: String, _ target: String, headers: [(String, String)] = [], body: String? = nil
  ) async throws -> RawResponse {
    try await onThread { port in
      try RawClient(port: port).request(method, target, headers: headers, body: body)
    }
  }

  /// Sends a GraphQL request with POST.
  func post(
    _ query: String, variables: JSONValue = .object([]), headers: [(String, String)] = []
  ) async throws -> RawResponse {
    let body: JSONValue = ["query": .string(query), "variables": variables]
    return try await request(
      "POST", "/graphql", headers: [("Content-Type", "application/json")] + headers,
      body: body.text)
  }

  func control(_ switches: JSONValue) async throws -> RawResponse {
    try await request(
      "POST", "/__demo", headers: [("Content-Type", "application/json")], body: switches.text)
  }

  func onThread<Answer: Sendable>(
    _ work: @escaping @Sendable (_ port: Int) throws -> Answer
  ) async throws -> Answer {
    let port = server.port
    return try await withCheckedThrowingContinuation { continuation in
      DispatchQueue.global().async {
        continuation.resume(with: Result { try work(port) })
      }
    }
  }
}

extension RawResponse {
  var json: JSONValue? { try? JSONValue(parsing: body) }
}
