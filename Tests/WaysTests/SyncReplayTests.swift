import DemoUpstream
import LosslessJSON
import TestSupport
import Testing

extension Ways {
  /// Idempotency keys: one key never makes two mutations, and never stands for two payloads.
  struct SyncReplayTests {
    private static func count(_ world: SyncWorld) async throws -> Int? {
      try JSONValue(
        parsing: try await world.larder.get("/v1/mutations?limit=200", world.device).body)[
          "items"]?.array?.count
    }

    @Test("Concurrent requests with one key make one mutation")
    func concurrentReplaysMakeOneMutation() async throws {
      let world = try await SyncWorld.start()
      let client = world.client
      try await world.pause()
      for round in 0..<5 {
        let answers = try await withThrowingTaskGroup(of: (Int, SyncWorld.Answer).self) { group in
          for caller in 0..<16 {
            group.addTask {
              let stars = caller % 2 + 1
              return (
                stars,
                try await client.submit(
                  SyncWorld.rating("f\(round)", stars: stars, mode: "steady"), key: "k\(round)")
              )
            }
          }
          return try await group.reduce(into: []) { $0.append($1) }
        }
        let taken = answers.filter { $0.1.status == 202 && !$0.1.isReplay }
        #expect(taken.count == 1)
        let (stars, first) = try #require(taken.first)
        for (other, answer) in answers where other == stars {
          #expect(answer.status == 202, "\(answer.body)")
          #expect(answer.id == first.id)
        }
        for (other, answer) in answers where other != stars {
          #expect(answer.status == 422, "\(answer.body)")
          #expect(answer.code == "idempotency_key_reused")
        }
        #expect(try await Self.count(world) == round + 1)
      }
      await world.stop()
    }

    @Test("The same payload written differently is a replay")
    func equivalentPayloadIsAReplay() async throws {
      let world = try await SyncWorld.start()
      try await world.pause()
      let first = try await world.submit(
        #"{"operation":"RateFilm","mode":"lazy","variables":{"id":"f1","stars":4}}"#, key: "1")
      #expect(first.status == 202)
      for text in [
        #"{"variables":{"stars":4,"id":"f1"},"mode":"lazy","operation":"RateFilm"}"#,
        "{ \"mode\" : \"lazy\",\n\t\"operation\": \"RateFilm\",\r\n"
          + "  \"variables\" : { \"stars\" : 4 , \"id\" : \"f1\" } }\n",
        #"{"operation":"Rate\u0046ilm","mode":"lazy","variables":{"id":"f\u0031","stars":4}}"#,
      ] {
        let again = try await world.submit(text, key: "1")
        #expect(again.status == 202, "\(again.body)")
        #expect(again.isReplay)
        #expect(again.id == first.id)
      }
      for text in [
        #"{"operation":"RateFilm","mode":"steady","variables":{"id":"f1","stars":4}}"#,
        #"{"operation":"RateFilm","mode":"lazy","variables":{"id":"f1","stars":4},"refs":["Film:f2"]}"#,
      ] {
        #expect(try await world.submit(text, key: "1").code == "idempotency_key_reused")
      }
      #expect(try await Self.count(world) == 1)
      await world.stop()
    }

    @Test("A list of mutations is accepted whole or not at all")
    func listIsAcceptedAtomically() async throws {
      let world = try await SyncWorld.start()
      try await world.pause()
      func array(_ films: [String], stars: Int = 4) -> String {
        "[\(films.map { SyncWorld.rating($0, stars: stars, mode: "steady") }.joined(separator: ","))]"
      }
      func ids(_ answer: SyncWorld.Answer) -> [String] {
        answer.body.array?.compactMap { $0["id"]?.string } ?? []
      }
      let first = try await world.submit(array(["f1", "f2"]), key: "a")
      #expect(first.status == 202, "\(first.body)")
      #expect(ids(first).count == 2)
      let again = try await world.submit(array(["f1", "f2"]), key: "a")
      #expect(again.isReplay)
      #expect(ids(again) == ids(first))
      // Two of them are known, the third is new.
      let longer = try await world.submit(array(["f1", "f2", "f3"]), key: "a")
      #expect(longer.status == 202, "\(longer.body)")
      #expect(!longer.isReplay)
      #expect(Array(ids(longer).prefix(2)) == ids(first))
      #expect(try await Self.count(world) == 3)
      // The first is new, the second differs from the one before: neither is accepted.
      let taken = try await world.submit(SyncWorld.rating("f4", mode: "steady"), key: "b#1")
      #expect(taken.status == 202)
      let mixed = try await world.submit(array(["f5", "f6"]), key: "b")
      #expect(mixed.status == 422, "\(mixed.body)")
      #expect(mixed.code == "idempotency_key_reused")
      #expect(mixed.body["errors"]?.array?.compactMap { $0["pointer"]?.string } == ["/1"])
      #expect(try await Self.count(world) == 4)
      await world.stop()
    }
  }
}
