import Foundation
import LosslessJSON
import TestSupport
import Testing

extension Ways {
  /// Changes with a filter on the object: an object that enters the filter is new, one that leaves it is
  /// deleted.
  struct ObserverTests {
    /// `title LIKE ?`, of films.
    private static let filter = "types=Film&filter=title%20LIKE%20%3F&arg=Zz%25"

    private static func page(
      _ larder: RunningLarder, _ query: String
    ) async throws -> (changes: [JSONValue], cursor: String) {
      let answer = try await larder.get("/v1/changes?\(query)")
      #expect(answer.status == 200, "\(answer.text)")
      let page = try JSONValue(parsing: answer.body)
      return (page["changes"]?.array ?? [], try #require(page["cursor"]?.string))
    }

    private static func rename(
      _ larder: RunningLarder, _ film: String, to title: String
    ) async throws {
      let answer = try await larder.post(
        "/v1/operations/UpdateFilm", #"{"id":"\#(film)","patch":{"title":"\#(title)"}}"#)
      #expect(answer.status == 200, "\(answer.text)")
    }

    @Test("An observer is notified when objects enter, change within and leave the filter")
    func reportsInsertUpdateAndDelete() async throws {
      let larder = try await RunningLarder.start()
      for film in ["f1", "f2"] { _ = try await larder.get("/api/films/\(film)") }
      var cursor = try await Self.page(larder, "\(Self.filter)&since=now").cursor
      let steps: [(film: String, title: String, op: String?, new: JSONValue?)] = [
        ("f1", "Zz one", "put", true), ("f1", "Zz two", "put", false),
        ("f2", "Other", nil, nil), ("f1", "Gone", "del", nil), ("f1", "Zz three", "put", true),
      ]
      for step in steps {
        try await Self.rename(larder, step.film, to: step.title)
        let page = try await Self.page(larder, "\(Self.filter)&since=\(cursor)")
        #expect(page.changes.count == (step.op == nil ? 0 : 1), "\(step)")
        #expect(page.changes.first?["op"]?.string == step.op, "\(step)")
        #expect(page.changes.first?["new"] == step.new, "\(step)")
        if step.op == "del" { #expect(page.changes.first?["reason"] == "hidden") }
        cursor = page.cursor
      }
      // A snapshot holds the objects that pass, and no others.
      let snapshot = try await Self.page(larder, Self.filter)
      #expect(snapshot.changes.map { $0["id"]?.string } == ["f1"])
      await larder.stop()
    }

    @Test("The on parameter refers to what a change is for the filter")
    func onRefersToTheFilter() async throws {
      let larder = try await RunningLarder.start()
      _ = try await larder.get("/api/films/f1")
      var cursors: [String: String] = [:]
      for operation in ["insert", "update", "delete"] {
        cursors[operation] = try await Self.page(
          larder, "\(Self.filter)&on=\(operation)&since=now"
        ).cursor
      }
      for (title, told) in [("Zz one", "insert"), ("Zz two", "update"), ("Gone", "delete")] {
        try await Self.rename(larder, "f1", to: title)
        for operation in ["insert", "update", "delete"] {
          let page = try await Self.page(
            larder, "\(Self.filter)&on=\(operation)&since=\(try #require(cursors[operation]))")
          #expect(page.changes.count == (operation == told ? 1 : 0), "\(title), \(operation)")
          cursors[operation] = page.cursor
        }
      }
      await larder.stop()
    }

    @Test("Streams and pages report the same changes")
    func streamsAndPagesAgree() async throws {
      let larder = try await RunningLarder.start()
      _ = try await larder.get("/api/films/f1")
      let events = try await EventClient.open(
        port: larder.port, "/v1/changes/stream?\(Self.filter)&since=now")
      let mark = try #require(try await events.nextEvent()?.id)
      try await Self.rename(larder, "f1", to: "Unseen")
      for (title, op) in [("Zz one", "put"), ("Zz two", "put"), ("Gone", "del")] {
        try await Self.rename(larder, "f1", to: title)
        let event = try #require(try await events.nextEvent())
        #expect(event.event == "change")
        #expect(try JSONValue(parsing: Array(event.data.utf8))["op"]?.string == op)
      }
      // A client that returns with an earlier cursor never had the object, and gets no change.
      #expect(try await Self.page(larder, "\(Self.filter)&since=\(mark)").changes.isEmpty)
      await larder.stop()
    }

    @Test("A cursor belongs to its filter")
    func aCursorBelongsToItsFilter() async throws {
      let larder = try await RunningLarder.start()
      _ = try await larder.get("/api/films?limit=3")
      let cursor = try await Self.page(larder, "\(Self.filter)&since=now").cursor
      for query in [
        "types=Film", "types=Film&filter=title%20LIKE%20%3F&arg=Yy%25",
        "types=Film&filter=title%20%3D%20%3F&arg=Zz%25", "\(Self.filter)&on=insert",
      ] {
        #expect(try await larder.get("/v1/changes?\(query)&since=\(cursor)").status == 400)
        #expect(try await larder.get("/v1/changes/stream?\(query)&since=\(cursor)").status == 400)
      }
      // A cursor from a response can start any observation; from now on the earlier state of films is kept.
      let films = try await larder.get("/api/films?limit=3")
      let open = try #require(films["sync-cursor"])
      #expect(try await Self.page(larder, "\(Self.filter)&since=\(open)").changes.isEmpty)
      await larder.stop()
    }

    @Test(
      "A fault names its parameter",
      arguments: [
        ("filter=year%20%3E%201", "types"), ("types=Film&filter=yearr%20%3E%201", "yearr"),
        ("types=Film,Person&filter=year%20%3E%201", "Person has no column year"),
        ("types=Film&filter=year%20%3E", "position"), ("types=Film&arg=1", "is required"),
        ("types=Film&filter=year%20%3E%20%3A", "position"),
        ("types=Film&filter=year%20%3E%20%3Aa&arg.b=1", "arg.b"),
        ("types=Film&filter=year%20%3E%201&filter=year%20%3E%202", "twice"),
      ])
    func faultsNameTheirParameter(query: String, word: String) async throws {
      let larder = try await RunningLarder.start()
      for path in ["/v1/changes", "/v1/changes/stream"] {
        let answer = try await larder.get("\(path)?\(query)")
        #expect(answer.status == 400)
        #expect(answer.text.contains(word), "\(answer.text)")
      }
      await larder.stop()
    }

    @Test("Local types can be observed")
    func localTypesAreObserved() async throws {
      let larder = try await RunningLarder.start(
        localTypes: "type Note @local { id: ID! text: String stars: Int }")
      let token = ("Device-Token", try await DeviceTests.register(larder).token)
      var target = "/v1/changes?types=Note&filter=stars%20%3E%202&since=now"
      for (method, body, told) in [
        ("PUT", #"{"text":"a","stars":1}"#, nil), ("PATCH", #"{"stars":5}"#, "put"),
        ("PATCH", #"{"text":"b"}"#, "put"), ("DELETE", nil, "del"),
      ] as [(String, String?, String?)] {
        let before = try await larder.get(target, token)
        #expect(before.status == 200, "\(before.text)")
        let cursor = try #require(try JSONValue(parsing: before.body)["cursor"]?.string)
        target = "/v1/changes?types=Note&filter=stars%20%3E%202&since=\(cursor)"
        let written = try await larder.request(
          method, "/v1/entities/Note/n", headers: [token], body: body)
        #expect(written.status < 300, "\(written.text)")
        let after = try JSONValue(parsing: try await larder.get(target, token).body)
        #expect(after["changes"]?.array?.map { $0["op"]?.string } ?? [] == [told].compactMap { $0 })
      }
      await larder.stop()
    }
  }
}
