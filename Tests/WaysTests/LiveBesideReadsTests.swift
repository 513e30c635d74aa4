import DemoUpstream
import LosslessJSON
import TestSupport
import Testing

extension Ways {
  /// Live queries during everything that changes what they show: the last frame equals a read by the same
  /// caller, with and without a device that has optimistic updates.
  struct LiveBesideReadsTests {
    private static let operations = [
      "films": """
      query Cached @cache(maxAge: 600, scope: PUBLIC, tags: ["front"]) {
        films(orderBy: [{field: TITLE}], limit: 8) { id title year }
      }
      query Plain @cache(scope: PUBLIC, tags: ["front"]) { films(orderBy: [{field: TITLE}], limit: 8) { id title year } }
      mutation UpdateFilm($id: ID!, $patch: FilmPatch!) @sync(object: "Film:$id") {
        updateFilm(id: $id, patch: $patch) { id title year }
      }
      mutation DropFilm($id: ID!) @effects(deletes: ["Film:$id"]) { deleteFilm(id: $id) }
      mutation Touch($id: ID!, $patch: FilmPatch!) @effects(invalidates: ["tag:front"]) {
        updateFilm(id: $id, patch: $patch) { __typename }
      }
      """
    ]
    private static let steps = 24
    private static let admin = ("Authorization", "Bearer \(RunningLarder.adminToken)")

    private struct Watcher {
      let operation: String
      let headers: [(String, String)]
      let events: EventClient
      var last = ""

      /// Reads until the text arrives; fails if it does not in time.
      mutating func follow(to text: String) async throws {
        while last != text {
          guard let event = try await events.nextEvent() else { return }
          last = event.data
        }
      }
    }

    private struct World {
      let larder: RunningLarder
      let device: (String, String)
      var pending: [String] = []
      var random: SeededGenerator

      func films() async throws -> [String] {
        let answer = try await larder.get("/v1/operations/Cached", ("Cache-Control", "max-stale"))
        let films = try JSONValue(parsing: answer.body)["data"]?["films"]?.array ?? []
        return films.compactMap { $0["id"]?.string }
      }

      /// Writes to upstream directly, not through Larder.
      func write(_ film: String, _ title: String) async throws {
        let body = """
          {"query":"mutation { updateFilm(id: \\"\(film)\\", patch: {title: \\"\(title)\\"}) { id } }"}
          """
        let port = larder.demo.port
        let answer = try await onOwnThread {
          try RawClient(port: port).request(
            "POST", "/graphql", headers: [("Content-Type", "application/json")], body: body)
        }
        #expect(answer.status == 200, "\(answer.text)")
      }

      mutating func act(_ step: Int) async throws {
        let film = try #require(try await films().randomElement(using: &random))
        // The list is ordered by title: a new title moves the film.
        let title = "\(["A", "M", "Z"].randomElement(using: &random) ?? "A") \(step)"
        let patch = #"{"id":"\#(film)","patch":{"title":"\#(title)"}}"#
        switch Int.random(in: 0..<9, using: &random) {
        case 0: _ = try await larder.post("/v1/operations/UpdateFilm", patch)
        case 1: _ = try await larder.post("/v1/operations/Touch", patch)
        case 2: _ = try await larder.post("/v1/operations/DropFilm", #"{"id":"\#(film)"}"#)
        case 3, 4:
          try await write(film, title)
          let operation = ["Cached", "Plain"].randomElement(using: &random) ?? "Plain"
          _ = try await larder.get("/v1/operations/\(operation)", ("Cache-Control", "no-cache"))
        case 5:
          try await write(film, title)
          let targets = [
            #"{"operation":"Cached"}"#, #"{"tag":"front"}"#, #"{"type":"Film"}"#,
            #"{"operation":"Plain"}"#,
          ]
          let purged = try await larder.post(
            "/v1/admin/purge", targets.randomElement(using: &random) ?? "", admin)
          #expect(purged.status == 200, "\(purged.text)")
        case 6 where !pending.isEmpty:
          let id = pending.removeFirst()
          let answer = try await larder.request("DELETE", "/v1/mutations/\(id)", headers: [device])
          #expect(answer.status == 200, "\(answer.text)")
        default:
          let body = """
            {"operation":"UpdateFilm","mode":"steady","variables":\(patch),\
            "optimistic":[{"op":"merge","type":"Film","id":"\(film)",\
            "fields":{"title":"mine \(step)"}}]}
            """
          let answer = try await larder.request(
            "POST", "/v1/mutations", headers: [device, ("Idempotency-Key", "k\(step)")],
            body: body)
          #expect(answer.status == 202, "\(answer.text)")
          pending.append(try #require(try JSONValue(parsing: answer.body)["id"]?.string))
        }
      }
    }

    @Test(
      "The last frame of a live query equals a read by the same caller",
      arguments: [45, 52, 7] as [UInt64])
    func lastFrameEqualsARead(seed: UInt64) async throws {
      let larder = try await RunningLarder.start(operations: Self.operations)
      let device = ("Device-Token", try await DeviceTests.register(larder).token)
      _ = try await larder.request("POST", "/v1/queue/pause", headers: [device])
      var world = World(larder: larder, device: device, random: SeededGenerator(seed: seed))
      var watchers: [Watcher] = []
      for operation in ["Cached", "Plain"] {
        for headers in [[device], []] {
          watchers.append(
            Watcher(
              operation: operation, headers: headers,
              events: try await EventClient.open(
                port: larder.port, "/v1/operations/\(operation)/stream", headers: headers)))
        }
      }
      for step in 0..<Self.steps {
        try await world.act(step)
        for index in watchers.indices {
          let target = "/v1/operations/\(watchers[index].operation)"
          let read = try await larder.request(
            "GET", target,
            headers: watchers[index].headers + [("Cache-Control", "max-stale")])
          #expect(read.status == 200, "\(read.text)")
          try await watchers[index].follow(to: read.text)
          #expect(
            watchers[index].last == read.text,
            "seed \(seed), step \(step), \(target) with \(watchers[index].headers.count) fields")
        }
      }
      await larder.stop()
    }
  }
}
