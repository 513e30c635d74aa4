import Foundation
import LosslessJSON
import Synchronization
import TestSupport
import Testing

extension Crashes {
  /// `kill -9` while several connections write the same values of a unique field.
  struct UniqueKillTests {
    private static let rounds = 5
    private static let connections = 4
    /// The values that the connections of a round want.
    private static let valuesMax = 200
    private static let types = """
      type Seat @local @key(fields: "number") { number: Int! guest: String @unique }
      """

    @Test(
      "kill -9: a value that was acknowledged for one row is that row's alone",
      arguments: [UInt64(1_618)])
    func oneRowForEachValue(seed: UInt64) async throws {
      var random = SeededGenerator(seed: seed)
      let folder = try ServiceFolder(
        upstream: RefusedStartTests.nowhere, settings: "local: seats.graphql")
      try folder.write(Self.types, to: "seats.graphql")
      let token = try await KilledService.register(in: folder)[0]
      let acknowledged = Mutex<[String: Int]>([:])
      let twice = Mutex<[String]>([])
      for round in 0..<Self.rounds {
        try await Self.writeAndKill(
          folder, token, round: round, random: &random,
          count: { acknowledged.withLock { $0.count } },
          note: { guest, seat in
            let former = acknowledged.withLock { $0.updateValue(seat, forKey: guest) }
            if former != nil { twice.withLock { $0.append(guest) } }
          })
      }
      #expect(twice.withLock { $0 } == [], "seed \(seed)")
      let stored = try await Self.guests(folder, token)
      #expect(Set(stored.map(\.guest)).count == stored.count, "seed \(seed)")
      let seats = Dictionary(
        stored.map { ($0.guest, $0.seat) }, uniquingKeysWith: { first, _ in first })
      for (guest, seat) in acknowledged.withLock({ $0 }) {
        #expect(seats[guest] == seat, "seed \(seed)")
      }
      #expect(stored.count > Self.rounds)
    }

    /// Lets each connection ask for every value, for a row of its own, and kills the service some
    /// milliseconds after some were acknowledged.
    private static func writeAndKill(
      _ folder: ServiceFolder, _ token: String, round: Int, random: inout SeededGenerator,
      count: @escaping @Sendable () -> Int, note: @escaping @Sendable (String, Int) -> Void
    ) async throws {
      let larder = try await LarderProcess.serve(folder)
      await KilledService.load(
        larder, at: .init(after: 1..<30, random: &random), count: count,
        clients: (0..<connections).map { connection in
          { port in
            let client = try RawClient(port: port)
            for step in 0..<valuesMax {
              let guest = "g\(round)-\(step)"
              let seat = (round * valuesMax + step) * connections + connection
              let answer = try client.request(
                "PUT", "/v1/entities/Seat/\(seat)",
                headers: [("Device-Token", token), ("Content-Type", "application/json")],
                body: #"{"guest":"\#(guest)"}"#)
              if answer.status == 201 { note(guest, seat) }
            }
          }
        })
    }

    /// All rows, by the pages of the restarted service.
    private static func guests(
      _ folder: ServiceFolder, _ token: String
    ) async throws -> [(guest: String, seat: Int)] {
      let larder = try await LarderProcess.serve(folder)
      let port = larder.port
      let items = try await onOwnThread {
        var items: [JSONValue] = []
        var target = "/v1/entities/Seat?order=number&limit=100"
        while true {
          let answer = try RawClient(port: port).request(
            "GET", target, headers: [("Device-Token", token)])
          let page = try JSONValue(parsing: answer.body)
          items += page["items"]?.array ?? []
          guard let next = page["next"]?.string else { return items }
          target = "/v1/entities/Seat?order=number&limit=100&after=\(next)"
        }
      }
      await larder.kill()
      return items.compactMap { item in
        guard let guest = item["guest"]?.string, let seat = item["number"]?.int64 else {
          return nil
        }
        return (guest, Int(seat))
      }
    }
  }
}
