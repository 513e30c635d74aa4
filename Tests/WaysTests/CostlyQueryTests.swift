import Foundation
import LosslessJSON
import Synchronization
import TestSupport
import Testing

extension Ways {
  /// The cost of one client's filters and patterns for other callers.
  struct CostlyQueryTests {
    private struct World {
      let larder: RunningLarder
      let phone: Phone

      func ask(_ method: String, _ target: String, _ body: String? = nil) async throws
        -> RawResponse
      {
        try await phone.ask(method, target, body)
      }

      func filtered(_ pattern: String) async throws -> RawResponse {
        try await phone.filtered(pattern)
      }
    }

    /// A registered device, or an anonymous caller if it has no token.
    private struct Phone: Sendable {
      let port: Int
      var token: String?

      func ask(_ method: String, _ target: String, _ body: String? = nil) async throws
        -> RawResponse
      {
        var headers = token.map { [("Device-Token", $0)] } ?? []
        if body != nil { headers.append(("Content-Type", "application/json")) }
        let (port, fields) = (port, headers)
        return try await onOwnThread {
          try RawClient(port: port).request(method, target, headers: fields, body: body)
        }
      }

      func filtered(_ pattern: String) async throws -> RawResponse {
        let filter =
          "text LIKE ?".addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
        let value = pattern.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
        return try await ask("GET", "/v1/entities/Note?filter=\(filter)&arg=\(value)")
      }
    }

    private static func start(_ settings: String = "") async throws -> World {
      let types = """
        type Note @local {
          id: ID!
          text: String
          slug: String @pattern(regex: "([a-z0-9]+-?)+")
        }
        """
      let larder = try await RunningLarder.start(settings: settings, localTypes: types)
      return World(
        larder: larder,
        phone: Phone(port: larder.port, token: try await DeviceTests.register(larder).token))
    }

    @Test("Patterns and arguments that are too long are refused before anything runs")
    func longPatterns() async throws {
      let world = try await Self.start()
      let long = "%" + String(repeating: "a", count: 6_000) + "b%"
      let read = try await world.filtered(long)
      #expect(read.status == 400, "\(read.text)")
      #expect(read.text.contains("the pattern has 6003 characters, at most 1000"))
      let longer = "%" + String(repeating: "a", count: 12_000) + "b%"
      let write = try await world.ask(
        "POST", "/v1/entities",
        #"[{"op":"delete","type":"Note","filter":"text LIKE :p","args":{"p":"\#(longer)"}}]"#)
      #expect(write.status == 400, "\(write.text)")
      #expect(write.text.contains("bytes, at most 8192"))
      await world.larder.stop()
    }

    @Test("A filter over large texts ends at its deadline, and other callers do not wait for it")
    func largeTexts() async throws {
      let world = try await Self.start("limits: {queryDeadline: 1s}")
      let text = String(repeating: "a", count: 400_000)
      for number in 0..<8 {
        let made = try await world.ask(
          "PUT", "/v1/entities/Note/n\(number)", #"{"text":"\#(text)"}"#)
        #expect(made.status == 201, "\(made.text)")
      }
      let pattern = "%" + String(repeating: "a", count: 300) + "b%"
      let ended = Endings()
      let (phone, stranger) = (world.phone, Phone(port: world.larder.port))
      try await withThrowingTaskGroup(of: Void.self) { group in
        for name in ["read", "read", "write"] {
          group.addTask {
            let answer =
              name == "read"
              ? try await phone.filtered(pattern)
              : try await phone.ask(
                "POST", "/v1/entities",
                #"[{"op":"delete","type":"Note","filter":"text LIKE :p","args":{"p":"\#(pattern)"}}]"#
              )
            #expect([200, 503].contains(answer.status), "\(answer.text)")
            ended.note(answer.status == 200 ? "answered" : "stopped")
          }
        }
        group.addTask {
          // Anonymous reads, and another device's registration, which is a write.
          for _ in 0..<3 {
            let read = try await stranger.ask("GET", "/v1/entities/Film?limit=1")
            #expect(read.status == 200, "\(read.text)")
          }
          let made = try await stranger.ask("POST", "/v1/devices", #"{"platform":"ios"}"#)
          #expect(made.status == 201, "\(made.text)")
          ended.note("others")
        }
        try await group.waitForAll()
      }
      let order = ended.all
      // The stopped query ran until its deadline; the others finished before.
      let stopped = order.firstIndex(of: "stopped") ?? order.endIndex
      #expect(try #require(order.firstIndex(of: "others")) < stopped, "\(order)")
      await world.larder.stop()
    }

    @Test("A pattern that makes other engines backtrack gets its response at once")
    func backtrackingPatterns() async throws {
      let world = try await Self.start()
      for count in [12, 60, 900] {
        let slug = String(repeating: "a", count: count) + "!"
        let refused = try await world.ask("PUT", "/v1/entities/Note/s", #"{"slug":"\#(slug)"}"#)
        #expect(refused.status == 422)
        #expect(refused.text.contains("does not match"))
      }
      let made = try await world.ask("PUT", "/v1/entities/Note/s", #"{"slug":"a-fine-slug-2"}"#)
      #expect(made.status == 201)
      await world.larder.stop()
    }
  }
}

/// The names of finished requests, in order.
private final class Endings: Sendable {
  private let names = Mutex<[String]>([])

  func note(_ name: String) { names.withLock { $0.append(name) } }

  var all: [String] { names.withLock { $0 } }
}
