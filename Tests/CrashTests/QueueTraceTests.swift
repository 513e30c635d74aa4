import DemoUpstream
import Foundation
import LosslessJSON
import TestSupport
import Testing

extension Crashes {
  /// The syncing of the queue before a response or a send, as system calls show it.
  struct QueueTraceTests {
    private static let refused: Comment = "ptrace is not permitted here"

    @Test(
      "The write-ahead log is synced before a 202", .enabled(if: SystemCalls.mayBeTraced, refused))
    func logIsSyncedBeforeA202() async throws {
      let calls = try await Self.calls { client, headers in
        for step in 1...5 {
          let answer = try client.request(
            "POST", "/v1/mutations", headers: headers + [("Idempotency-Key", "k\(step)")],
            body: #"""
              {"operation":"RateFilm","mode":"steady","variables":{"id":"f\#(step)","stars":4}}
              """#)
          #expect(answer.status == 202, "\(answer.text)")
        }
      }
      let heard = SystemCalls.places(of: "POST /v1/mutations", "recvfrom", in: calls)
      let told = SystemCalls.places(of: "HTTP/1.1 202", in: calls)
      #expect(heard.count == 5 && told.count == 5, "\(calls.joined(separator: "\n"))")
      for (heard, told) in zip(heard, told) {
        let between = calls[heard..<max(heard, told)]
        #expect(between.contains(where: Self.isSync), "\(between.joined(separator: "\n"))")
      }
    }

    /// Otherwise it would be unknown after a power failure whether the mutation was sent.
    @Test(
      "The claim of a mutation that must not be repeated is synced before it is sent",
      .enabled(if: SystemCalls.mayBeTraced, refused))
    func claimIsSyncedBeforeSending() async throws {
      let calls = try await Self.calls { client, headers in
        let answer = try client.request(
          "POST", "/v1/mutations", headers: headers + [("Idempotency-Key", "k")],
          body: #"""
            {"operation":"CreateFilm","mode":"steady",
            "variables":{"input":{"title":"New","year":1999,"country":"FR"}}}
            """#)
        #expect(answer.status == 202, "\(answer.text)")
        let id = try #require(try JSONValue(parsing: answer.body)["id"]?.string)
        let end = try client.request("GET", "/v1/mutations/\(id)?wait=8", headers: headers)
        #expect(try JSONValue(parsing: end.body)["state"] == "applied", "\(end.text)")
      }
      let heard = try #require(
        SystemCalls.places(of: "POST /v1/mutations", "recvfrom", in: calls).first)
      let sent = try #require(SystemCalls.places(of: "POST /graphql", in: calls).first)
      // One sync of the mutation itself, one of the claim.
      #expect(calls[heard..<sent].count(where: Self.isSync) >= 2)
    }

    /// Runs a service under the tracer.
    private static func calls(
      _ body: @escaping @Sendable (RawClient, [(String, String)]) throws -> Void
    ) async throws -> [String] {
      let demo = DemoServer(DemoOptions(now: { Int64(Date().timeIntervalSince1970) }))
      try await demo.start()
      let folder = try ServiceFolder(upstream: demo.url)
      let file = "\(folder.path)/calls.txt"
      let larder = try LarderProcess.spawnService(
        folder, under: SystemCalls.tracer(file: file))
      try await larder.becomeReady()
      let port = larder.port
      try await onOwnThread {
        let client = try RawClient(port: port)
        let token = try client.registerDevice()
        try body(
          client,
          [
            ("Device-Token", token), ("Authorization", "Bearer user-ada"),
            ("Content-Type", "application/json"),
          ])
      }
      #expect(try await larder.terminate() == 0, "\(larder.errors)")
      await demo.stop()
      return SystemCalls.read(file)
    }

    private static func isSync(_ call: String) -> Bool { SystemCalls.isSync(call, of: "-wal") }
  }
}
