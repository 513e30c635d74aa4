import Foundation
import LosslessJSON
import OneSignalDouble
import Synchronization
import TestSupport
import Testing

extension Crashes {
  /// `kill -9` while notifications are accepted and sent, repeatedly over the same data.
  struct PushKillTests {
    private static let rounds = 8
    private static let connections = 3
    static let bearer = ("Authorization", "Bearer \(ServiceFolder.adminToken)")

    /// The notifications that got a 202: the id by its key.
    private final class Taken: Sendable {
      private let ids = Mutex<[String: String]>([:])

      var all: [String: String] { ids.withLock { $0 } }

      func note(_ id: String, key: String) { ids.withLock { $0[key] = id } }
    }

    @Test("kill -9: every accepted notification is sent once", arguments: [UInt64(20_262)])
    func acceptedNotificationsAreSentOnce(seed: UInt64) async throws {
      var random = SeededGenerator(seed: seed)
      let server = try await OneSignalServer(FakeOneSignal(.current))
      server.app.know(["u1", "u2"])
      let folder = try ServiceFolder(
        upstream: "http://127.0.0.1:1/graphql",
        settings: Self.settings(of: server))
      let taken = Taken()
      for round in 0..<Self.rounds {
        // In some rounds responses are lost in transit.
        server.app.isLosingAnswers = Bool.random(using: &random)
        try await sendAndKill(folder, taken, round: round, random: &random)
      }
      server.app.isLosingAnswers = false
      let larder = try await LarderProcess.serve(folder)
      let all = taken.all
      #expect(all.count > Self.rounds)
      try await check(all, larder, note: "seed \(seed)")
      // Each was sent once, and those without a response at most once.
      var sent: [String: Int] = [:]
      for body in server.app.notifications.values {
        sent[body["data"]?["chatId"]?.string ?? "", default: 0] += 1
      }
      #expect(sent.values.allSatisfy { $0 == 1 }, "seed \(seed): \(sent.filter { $0.value != 1 })")
      #expect(Set(all.keys).isSubset(of: sent.keys), "seed \(seed)")
      #expect(try await larder.terminate() == 0)
      await server.stop()
    }

    static func settings(of server: OneSignalServer) -> String {
      """
      push:
        sender: onesignal
        url: "\(server.url)"
        appId: \(FakeOneSignal.appID)
        apiKey: \(server.app.key)
      """
    }

    private func check(
      _ taken: [String: String], _ larder: LarderProcess, note: String
    ) async throws {
      let port = larder.port
      for (key, id) in taken {
        let isSent = await Moment.comes(withinSeconds: 60) {
          let answer = try await onOwnThread {
            try RawClient(port: port).request(
              "GET", "/v1/push/notifications/\(id)", headers: [Self.bearer])
          }
          return try JSONValue(parsing: answer.body)["states"] == ["u1": "sent", "u2": "sent"]
        }
        #expect(isSent, "\(note): \(key)")
        let again = try await onOwnThread {
          try Self.send(key, on: RawClient(port: port))
        }
        #expect(again == id, "\(note): \(key)")
      }
    }

    private func sendAndKill(
      _ folder: ServiceFolder, _ taken: Taken, round: Int, random: inout SeededGenerator
    ) async throws {
      let larder = try await LarderProcess.serve(folder)
      await KilledService.load(
        larder, at: .init(after: 1..<30, random: &random), count: { taken.all.count },
        clients: (0..<Self.connections).map { number in
          { port in
            let client = try RawClient(port: port)
            for step in 0... {
              let key = "k-\(round)-\(number)-\(step)"
              if let id = try Self.send(key, on: client) { taken.note(id, key: key) }
            }
          }
        })
    }

    /// - Returns: the id of the accepted notification.
    private static func send(_ key: String, on client: RawClient) throws -> String? {
      let answer = try client.request(
        "POST", "/v1/push/notifications",
        headers: [
          bearer, ("Idempotency-Key", key), ("Content-Type", "application/json"),
        ], body: #"{"chatId":"\#(key)","userIds":["u1","u2"],"text":"Hello"}"#)
      guard answer.status == 202 else { return nil }
      return try JSONValue(parsing: answer.body)["id"]?.string
    }
  }
}
