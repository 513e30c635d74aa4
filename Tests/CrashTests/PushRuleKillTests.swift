import Foundation
import GRDB
import LosslessJSON
import OneSignalDouble
import Synchronization
import TestSupport
import Testing

extension Crashes {
  /// `kill -9` while rows come into being and change that rules tell of: each commit that is there is
  /// told once, those of one row as well that nobody looked at in between.
  struct PushRuleKillTests {
    private static let rounds = 6
    private static let connections = 3
    /// Of each row, behind the write that makes it.
    private static let changesMax = 3
    private static let types = """
      type Message @local {
        id: ID!
        text: String!
        recipientIds: [ID!]!
      }
      """

    @Test(arguments: [UInt64(3_141)])
    func everyCommitIsToldOnce(seed: UInt64) async throws {
      var random = SeededGenerator(seed: seed)
      let vendor = try await OneSignalServer(FakeOneSignal(.current))
      vendor.app.know(["u1", "u2"])
      let types = FileManager.default.temporaryDirectory
        .appending(path: "larder-types-\(UUID().uuidString).graphql")
      try Data(Self.types.utf8).write(to: types)
      defer { try? FileManager.default.removeItem(at: types) }
      let folder = try ServiceFolder(
        upstream: RefusedStartTests.nowhere,
        settings: """
          local: \(types.path)
          \(PushKillTests.settings(of: vendor))
            rules:
              - {on: Message insert, to: recipientIds, text: "{text}"}
              - {on: Message update, to: recipientIds, text: "{text}"}
          """)
      let token = try await Self.register(folder)
      let acknowledged = Mutex<Set<String>>([])
      for round in 0..<Self.rounds {
        // In some rounds answers are lost on their way.
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
      try await Self.expectEachTold(committed, folder, token, vendor, note: "seed \(seed)")
      await vendor.stop()
    }

    private static func register(_ folder: ServiceFolder) async throws -> String {
      let larder = try await LarderProcess.serve(folder)
      let port = larder.port
      let token = try await onOwnThread {
        let answer = try RawClient(port: port).request(
          "POST", "/v1/devices", headers: [("Content-Type", "application/json")],
          body: #"{"platform":"ios","name":"phone"}"#)
        return try #require(try JSONValue(parsing: answer.body)["deviceToken"]?.string)
      }
      await larder.kill()
      return token
    }

    /// Writes rows until some more were acknowledged, and kills the service some milliseconds after.
    private static func writeAndKill(
      _ folder: ServiceFolder, _ token: String, round: Int, random: inout SeededGenerator,
      count: @escaping @Sendable () -> Int, note: @escaping @Sendable (String) -> Void
    ) async throws {
      let larder = try await LarderProcess.serve(folder)
      let port = larder.port
      let goal = count() + Int.random(in: 1..<30, using: &random)
      let delay = Duration.microseconds(Int.random(in: 0..<20_000, using: &random))
      await withTaskGroup { group in
        for number in 0..<connections {
          group.addTask {
            try? await onOwnThread {
              let client = try RawClient(port: port)
              // Until the connection breaks.
              for step in 0... {
                let key = "m-\(round)-\(number)-\(step)"
                for change in 0...changesMax {
                  let answer = try write(key, change, token, on: client)
                  if [200, 201].contains(answer.status) { note(text(key, change)) }
                }
              }
            }
          }
        }
        let isUnderWay = await Moment.comes(withinSeconds: 30) { count() >= goal }
        #expect(isUnderWay, "\(larder.errors)")
        await Moment.passes(delay)
        await larder.kill()
        await group.waitForAll()
      }
    }

    /// Commits are told in their order, so once a last one has been told nothing of the others waits
    /// to be noticed.
    private static func expectEachTold(
      _ committed: Set<String>, _ folder: ServiceFolder, _ token: String,
      _ vendor: OneSignalServer, note: String
    ) async throws {
      let larder = try await LarderProcess.serve(folder)
      let port = larder.port
      let last = try await onOwnThread { try write("last", 0, token, on: RawClient(port: port)) }
      #expect(last.status == 201, "\(last.text)")
      let wanted = committed.union([text("last", 0)])
      let isTold = await Moment.comes(withinSeconds: 60) {
        wanted.isSubset(of: Self.told(vendor).keys)
      }
      let told = Self.told(vendor)
      #expect(isTold, "\(note): not told of \(wanted.subtracting(told.keys)) \(larder.errors)")
      #expect(Set(told.keys).subtracting(wanted) == [], "\(note): told of what is not there")
      #expect(told.values.allSatisfy { $0 == 1 }, "\(note): \(told.filter { $0.value != 1 })")
      #expect(try await larder.terminate() == 0, "\(larder.errors)")
      let noted = try StoredFiles(of: folder).read { database in
        try Int.fetchOne(database, sql: "SELECT count(*) FROM push_notification") ?? 0
      }
      #expect(noted == wanted.count, "\(note)")
    }

    /// How often each text went out.
    private static func told(_ vendor: OneSignalServer) -> [String: Int] {
      vendor.app.notifications.values.reduce(into: [:]) { told, body in
        told[body["contents"]?["en"]?.string ?? "", default: 0] += 1
      }
    }

    /// All that the rows have ever said.
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

    /// - Parameter change: counted from 0, which makes the row.
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
