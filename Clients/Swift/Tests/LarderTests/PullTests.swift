import Testing

@testable import Larder

/// Pages of changes that are unusual.
struct PullTests {
  private static func put(_ id: String, _ title: String) -> JSONValue {
    [
      "op": "put", "type": "Film", "id": .string(id),
      "data": ["id": .string(id), "title": .string(title)],
    ]
  }

  /// A phone that follows films, of which each pull has a page.
  private func phone(_ page: @escaping @Sendable () -> JSONValue) async throws -> Larder {
    let transport = ScriptedLarder.withAccount { request in
      if request.query.contains(where: { $0.value == "$mutation" }) {
        return (200, ["changes": [], "cursor": "m", "complete": true])
      }
      return (200, page())
    }
    let larder = try await ScriptedLarder.registered(transport)
    try await larder.follow("films", types: ["Film"])
    return larder
  }

  @Test("Ids whose texts are canonically equal in Unicode are two entities")
  func tellsNormalFormsApart() async throws {
    let composed = "caf\u{E9}"
    let decomposed = "cafe\u{301}"
    let larder = try await phone {
      [
        "changes": [Self.put(composed, "One"), Self.put(decomposed, "Two")], "cursor": "c",
        "complete": true,
      ]
    }
    #expect(try await larder.sync().applied == 2)
    let merged = OptimisticChange(.merge, type: "Film", id: decomposed, fields: ["title": "2"])
    try await larder.submit("Rename", optimistic: [merged])
    let titles = try await larder.read { db in
      try [composed, decomposed].map { id in
        try db.rows(
          sql: "SELECT data->>'title' AS title FROM entities WHERE type = 'Film' AND id = ?",
          arguments: [.string(id)]
        ).first?["title"]?.string
      }
    }
    #expect(titles == ["One", "2"])
    var films = larder.observe(EntityQuery(type: "Film")).makeAsyncIterator()
    #expect(try await films.next()?.items.count == 2)
  }

  @Test("An id that SQLite would cut is an error, and the cursor stays")
  func refusesNUL() async throws {
    let isFaulty = Locked(true)
    let larder = try await phone {
      let id = isFaulty.withLock { $0 } ? "a\0b" : "ab"
      return ["changes": [Self.put(id, "One")], "cursor": "c", "complete": true]
    }
    #expect(await failure { _ = try await larder.sync() }?.code == "unexpected_content")
    isFaulty.withLock { $0 = false }
    #expect(try await larder.sync().applied == 1)
  }

  @Test("Pages that go on at the same cursor end the sync", .timeLimit(.minutes(1)))
  func endsWithoutProgress() async throws {
    let larder = try await phone { ["changes": [], "cursor": "c", "complete": false] }
    #expect(await failure { _ = try await larder.sync() }?.code == "unexpected_content")
  }
}
