import GRDB

/// What a sync has done.
public struct SyncResult: Hashable, Sendable {
  /// Changes of entities.
  public let applied: Int
  /// Whether a cursor was refused, so that a following was read again from its beginning.
  public let wasReset: Bool
}

/// Pulls changes into the replica.
struct Replica: Sendable {
  private static let mutations = #"{"types":["$mutation"]}"#

  let store: PhoneStore
  let profiles: Profiles
  let pageSize: Int
  let exclusive = Exclusive()

  func sync() async throws -> SyncResult {
    let id = try await profiles.needActive().id
    return try await exclusive.run { try await sync(id) }
  }

  private func sync(_ id: String) async throws -> SyncResult {
    try await profiles.sendSignOuts()
    let accepted = try await store.read { db in
      Set(try OutboxRows(db, id).items().filter { $0.state != .waiting }.map(\.number))
    }
    let (pulls, mutations) = try await pullAll(id)
    try await store.write { db in
      for pull in pulls { try ReplicaRows(db, id).apply(pull) }
      var reports: [String: JSONValue] = [:]
      for change in mutations.changes.values { reports[change.key.id] = change.data }
      try OutboxRows(db, id).take(reports, accepted: accepted)
      try OverlayRows(db, id).refoldAll()
      try db.execute(
        sql: "UPDATE profile SET outcomeCursor = ? WHERE id = ?",
        arguments: [mutations.cursor, id])
    }
    return SyncResult(
      applied: pulls.reduce(0) { $0 + $1.count }, wasReset: pulls.contains { $0.wasReset })
  }

  /// Pulls until the outcomes that are known are exactly those whose effects the data have.
  private func pullAll(_ id: String) async throws -> ([Pull], Pull) {
    var (pulls, mutations) = try await store.read { db in
      let cursor = try String.fetchOne(
        db, sql: "SELECT outcomeCursor FROM profile WHERE id = ?", arguments: [id])
      return (
        try ReplicaRows(db, id).followings().map {
          try Pull(following: $0.number, definition: $0.definition, cursor: $0.cursor)
        }, try Pull(following: 0, definition: Self.mutations, cursor: cursor)
      )
    }
    while true {
      for index in pulls.indices { pulls[index] = try await pull(pulls[index], id) }
      let before = mutations.count
      mutations = try await pull(mutations, id)
      if mutations.count == before { return (pulls, mutations) }
    }
  }

  /// Continues a pull to the present end.
  private func pull(_ begun: Pull, _ id: String) async throws -> Pull {
    var pull = begun
    while true {
      var query = pull.query + [("limit", String(pageSize))]
      if let cursor = pull.cursor { query.append(("since", cursor)) }
      let request = HTTPRequest(path: "/v1/changes", query: query, shape: .changes)
      let response = try await profiles.send(request, as: id)
      let isRefused = response.status == 410 || response.isRefusal(403, "forbidden")
      if isRefused, pull.cursor != nil, !pull.wasReset {
        pull.restart()
        continue
      }
      if try pull.take(response.content()) { return pull }
    }
  }
}
