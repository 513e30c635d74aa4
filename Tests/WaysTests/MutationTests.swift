import DemoUpstream
import LosslessJSON
import TestSupport
import Testing

extension Ways {
  /// The third way: a mutation, and the reads after it.
  struct MutationTests {
    @Test("Every read after a mutation shows its change")
    func readsAfterAMutationShowItsChange() async throws {
      let larder = try await RunningLarder.start()
      let before = try await larder.get("/api/films/f1")
      let patch = #"{"id":"f1","patch":{"title":"A New Title"}}"#
      let answer = try await larder.post(
        "/v1/operations/UpdateFilm", patch, ("Authorization", "Bearer user-ada"))
      #expect(answer.status == 200, "\(answer.text)")
      #expect(answer["cache-control"] == "no-store")
      #expect(answer.text.contains("A New Title"))
      let after = try await larder.get("/api/films/f1")
      #expect(after.text.contains("A New Title"))
      #expect(after["etag"] != before["etag"])
      #expect(after["sync-cursor"] != before["sync-cursor"])
      await larder.stop()
    }

    @Test("A deleted entity leaves every list")
    func aDeletedEntityLeavesEveryList() async throws {
      let larder = try await RunningLarder.start()
      let list = try JSONValue(parsing: try await larder.get("/api/films?limit=3").body)
      let id = try #require(list["data"]?["films"]?[0]?["id"]?.string)
      _ = try await larder.get("/api/films/\(id)")
      let answer = try await larder.post(
        "/v1/operations/DeleteFilm", #"{"id":"\#(id)"}"#, ("Authorization", "Bearer user-ada"))
      #expect(answer.status == 200, "\(answer.text)")
      let after = try await larder.get("/api/films?limit=3")
      #expect(!after.text.contains("\"id\":\"\(id)\""))
      let film = try JSONValue(parsing: try await larder.get("/api/films/\(id)").body)
      #expect(film["data"]?["film"] == .null)
      await larder.stop()
    }

    @Test("Upstream gets one idempotency key per mutation")
    func upstreamSeesOneKeyForEachMutation() async throws {
      let larder = try await RunningLarder.start()
      for _ in 0..<2 {
        _ = try await larder.post(
          "/v1/operations/RateFilm", #"{"id":"f1","stars":4}"#, ("Authorization", "Bearer user-ada")
        )
      }
      let keys = larder.demo.report.recent.filter { $0.operationName == "RateFilm" }
        .compactMap { $0["idempotency-key"] }
      #expect(keys.count == 2)
      #expect(Set(keys).count == 2)
      await larder.stop()
    }

    @Test("A mutation without an upstream response is reported with an unknown outcome")
    func lostResponseIsReportedAsUnknown() async throws {
      let larder = try await RunningLarder.start()
      try await larder.demo.change {
        $0.fail = .halfBody
        $0.operations = ["RateFilm"]
      }
      _ = try await larder.get("/api/top-films")
      let answer = try await larder.post(
        "/v1/operations/RateFilm", #"{"id":"f1","stars":4}"#, ("Authorization", "Bearer user-ada"))
      #expect(answer.status == 504)
      #expect(answer.text.contains("outcome_unknown"))
      // Everything that it could have changed is fetched again.
      #expect(try await larder.get("/api/top-films").cacheStatus?.hasPrefix("fwd=") == true)
      await larder.stop()
    }
  }
}
