import Foundation
import GRDB
import LosslessJSON
import OneSignalDouble
import Synchronization
import TestSupport
import Testing

extension Crashes {
  /// `kill -9` while rows are inserted and updated that push rules watch: each stored commit notifies once,
  /// including several commits of one row between two looks of the rule reader.
  struct PushRuleKillTests {
    private static let rounds = 6
    private static let connections = 3
    /// The number of updates of each row after its insert.
    private static let changesMax = 3
    private static let types = """
      type Message @local {
        id: ID!
        text: String!
        recipientIds: [ID!]!
      }
      """

    @Test(
      "kill -9: every commit that matches a push rule notifies once", arguments: [UInt64(3_141)])
    func everyCommitNotifiesOnce(seed: UInt64) async throws {
      var random = SeededGenerator(seed: seed)
      let vendor = try await OneSignalServer(FakeOneSignal(.current))
      vendor.app.know(["u1", "u2"])
      let folder = try ServiceFolder(
        upstream: RefusedStartTests.nowhere,
        settings: """
          local: local.graphql
          \(PushKillTests.settings(of: vendor))
            rules:
              - {on: Message insert, to: recipientIds, text: "{text}"}
              - {on: Message update, to: recipientIds, text: "{text}"}
          """)
      try folder.write(Self.types, to: "local.graphql")
      let token = try await KilledService.register(in: folder)[0]
      let acknowledged = Mutex<Set<String>>([])
      for round in 0..<Self.rounds {
        // In some rounds responses are lost in transit.
        vendor.app.isLosingAnswers = Bool.random(using: &random)
        try await Self.writeAndKill(
          folder, token, round: round, random: &random,
          count: { acknowledged.withLock { $0.count } },
          note: { text in acknowledged.withLock { _ = $0.insert(text) } })
      }
      vendor.app.isLosingAnswers = false
      let committed = try Self.texts(folder)
      #expect(acknowledged.withLock { $0 }.isSubset(of: committed), "seed \(seed)")
      #expect(committed.count > Self.rounds)
      try await Self.expectOneNotificationEach(
        committed, folder, token, vendor, note: "seed \(seed)")
      await vendor.stop()
    }

    /// Writes rows until some more were acknowledged, and kills the service some milliseconds later.
    private static func writeAndKill(
      _ folder: ServiceFolder, _ token: String, round: Int, random: inout SeededGenerator,
      count: @escaping @Sendable () -> Int, note: @escaping @Sendable (String) -> Void
    ) async throws {
      let larder = try await LarderProcess.serve(folder)
      await KilledService.load(
        larder, at: .init(after: 1..<30, random: &random), count: count,
        clients: (0..<connections).map { number in
          { port in
            let client = try RawClient(port: port)
            for step in 0... {
              let key = "m-\(round)-\(number)-\(step)"
              for change in 0...changesMax {
                let answer = try write(key, change, token, on: client)
                if [200, 201].contains(answer.status) { note(text(key, change)) }
              }
            }
          }
        })
    }

    /// Commits notify in order, so once the last one has, no earlier commit is still to be noticed.
    private static func expectOneNotificationEach(
      _ committed: Set<String>, _ folder: ServiceFolder, _ token: String,
      _ vendor: OneSignalServer, note: String
    ) async throws {
      let larder = try await LarderProcess.serve(folder)
      let port = larder.port
      let last = try await onOwnThread { try write("last", 0, token, on: RawClient(port: port)) }
      #expect(last.status == 201, "\(last.text)")
      let wanted = committed.union([text("last", 0)])
      let isTold = await Moment.comes(withinSeconds: 60) {
        wanted.isSubset(of: Self.sentTexts(vendor).keys)
      }
      let told = Self.sentTexts(vendor)
      #expect(isTold, "\(note): not sent: \(wanted.subtracting(told.keys)) \(larder.errors)")
      #expect(Set(told.keys).subtracting(wanted) == [], "\(note): sent without a stored commit")
      #expect(told.values.allSatisfy { $0 == 1 }, "\(note): \(told.filter { $0.value != 1 })")
      #expect(try await larder.terminate() == 0, "\(larder.errors)")
      let noted = try StoredFiles(of: folder).read { database in
        try Int.fetchOne(database, sql: "SELECT count(*) FROM push_notification") ?? 0
      }
      #expect(noted == wanted.count, "\(note)")
    }

    /// The number of times that each text was sent.
    private static func sentTexts(_ vendor: OneSignalServer) -> [String: Int] {
      vendor.app.notifications.values.reduce(into: [:]) { told, body in
        told[body["contents"]?["en"]?.string ?? "", default: 0] += 1
      }
    }

    /// All texts that the rows have ever had.
    private static func texts(_ folder: ServiceFolder) throws -> Set<String> {
      let last = try StoredFiles(of: folder).read { database in
        try String.fetchAll(
          database,
          sql: "SELECT fields ->> '$.text' FROM entity_Message WHERE fields IS NOT NULL")
      }
      return Set(
        last.flatMap { text -> [String] in
          let words = text.split(separator: " ")
          guard words.count == 2, let count = Int(words[1]) else { return [text] }
          return (0...count).map { Self.text(String(words[0]), $0) }
        })
    }

    private static func text(_ key: String, _ change: Int) -> String { "\(key) \(change)" }

    /// - Parameter change: counted from 0, which is the insert.
    private static func write(
      _ key: String, _ change: Int, _ token: String, on client: RawClient
    ) throws -> RawResponse {
      let headers = [("Device-Token", token), ("Content-Type", "application/json")]
      let text = text(key, change)
      guard change == 0 else {
        return try client.request(
          "PATCH", "/v1/entities/Message/\(key)", headers: headers, body: #"{"text":"\#(text)"}"#)
      }
      return try client.request(
        "POST", "/v1/entities/Message", headers: headers,
        body: #"{"id":"\#(key)","text":"\#(text)","recipientIds":["u1","u2"]}"#)
    }
  }
}
