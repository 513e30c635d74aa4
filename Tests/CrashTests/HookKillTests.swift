import Foundation
import LosslessJSON
import Synchronization
import TestSupport
import Testing

extension Crashes {
  /// `kill -9` while a webhook is sent events, repeatedly over the same data.
  struct HookKillTests {
    private static let rounds = 6
    private static let connections = 4
    private static let secret = "0123456789abcdef"
    private static let settings = """
      hooks:
        in:
          films:
            format: hasura
            secret: \(secret)
            tables: {film: {type: Film}}
      """

    /// The events that were confirmed, and those that were sent.
    private final class Events: Sendable {
      private let confirmed = Mutex<Set<String>>([])

      var all: Set<String> { confirmed.withLock { $0 } }

      func note(_ id: String) { confirmed.withLock { _ = $0.insert(id) } }
    }

    @Test("kill -9: every confirmed event is stored, and recognised when it is sent again")
    func confirmedEventsAreStored() async throws {
      var random = SeededGenerator(seed: 20_271)
      let folder = try ServiceFolder(
        upstream: "http://127.0.0.1:1/graphql", settings: Self.settings)
      let events = Events()
      for round in 0..<Self.rounds {
        try await sendAndKill(folder, events, round: round, random: &random)
      }
      let larder = try await LarderProcess.serve(folder)
      let port = larder.port
      let all = events.all.sorted()
      #expect(all.count > Self.rounds)
      try await onOwnThread {
        let client = try RawClient(port: port)
        for id in all {
          let film = try client.request("GET", "/v1/entities/Film/\(id)")
          let body = try JSONValue(parsing: film.body)
          #expect(body["title"]?.string == "Title of \(id)", "\(id): \(film.status)")
          let again = try Self.send(id, title: "Other", on: client)
          #expect(again == "repeated", "\(id)")
        }
      }
      #expect(try await larder.terminate() == 0)
    }

    private func sendAndKill(
      _ folder: ServiceFolder, _ events: Events, round: Int, random: inout SeededGenerator
    ) async throws {
      let larder = try await LarderProcess.serve(folder)
      await KilledService.load(
        larder, at: .init(after: 1..<60, random: &random), count: { events.all.count },
        clients: (0..<Self.connections).map { number in
          { port in
            let client = try RawClient(port: port)
            for step in 0... {
              let id = "h-\(round)-\(number)-\(step)"
              if try Self.send(id, title: "Title of \(id)", on: client) == "applied" {
                events.note(id)
              }
            }
          }
        })
    }

    /// - Returns: what became of the event; nil if it was refused.
    private static func send(
      _ id: String, title: String, on client: RawClient
    ) throws -> String? {
      let answer = try client.request(
        "POST", "/v1/hooks/films",
        headers: [("webhook-secret", secret), ("Content-Type", "application/json")],
        body: #"{"id":"\#(id)","created_at":"2026-01-02T03:04:05Z","table":{"name":"film"},"#
          + #""event":{"op":"INSERT","data":{"old":null,"new":{"id":"\#(id)","title":"\#(title)"}}}}"#
      )
      guard answer.status == 200 else { return nil }
      return try JSONValue(parsing: answer.body)["status"]?.string
    }
  }
}
