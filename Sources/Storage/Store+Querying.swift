import GRDB
package import Model

extension Store {
  /// A page of a type's entities as a viewer sees them: filter, order, total and sections go by the
  /// values that are shown.
  ///
  /// Runs beside short look-ups, and no longer than the deadline. A page in the order of keys without
  /// any condition never waits for others' conditions.
  /// - Throws: ``StorageError/tooCostly`` when stopped, ``StorageError/overloaded`` when not begun.
  package func page(
    _ query: EntityQuery, viewer: Viewer, deadline: QueryDeadline? = nil
  ) async throws(StorageError) -> EntityPage {
    let (catalogue, directory, touches) = (catalogue, directory, touches)
    let lane =
      query.isBounded && viewer.layers.count == 1 ? nil : QueryLane(.collection, of: viewer)
    return try await read(lane, within: deadline) { database in
      guard let table = catalogue[query.type.name] else { return EntityPage(items: []) }
      let scopes = try viewer.layers.compactMap { try directory.id(of: $0, database) }
      return try EntityQueryRun(query, table, scopes: scopes, touches, database).page()
    }
  }

  /// A page of a list whose members are of several types.
  package func page(
    _ query: MixedQuery, viewer: Viewer, deadline: QueryDeadline? = nil
  ) async throws(StorageError) -> EntityPage {
    let (catalogue, directory, touches) = (catalogue, directory, touches)
    return try await read(QueryLane(.collection, of: viewer), within: deadline) { database in
      let scopes = try viewer.layers.compactMap { try directory.id(of: $0, database) }
      return try MixedQueryRun(
        query: query, catalogue: catalogue, scopes: scopes, touches: touches, database: database
      ).page()
    }
  }

  /// How many entities of each type a viewer sees.
  package func counts(
    of types: [EntityType], viewer: Viewer, deadline: QueryDeadline? = nil
  ) async throws(StorageError) -> [String: Int] {
    let (catalogue, directory, touches) = (catalogue, directory, touches)
    return try await read(QueryLane(.collection, of: viewer), within: deadline) { database in
      let scopes = try viewer.layers.compactMap { try directory.id(of: $0, database) }
      var counts: [String: Int] = [:]
      for type in types {
        guard let table = catalogue[type.name] else { continue }
        let query = EntityQuery(type: type, limit: 0, wantsTotal: true)
        counts[type.name] =
          try EntityQueryRun(query, table, scopes: scopes, touches, database).page().total
      }
      return counts
    }
  }

  /// Entities of any types by their keys; those without anything stored are absent.
  package func entities(
    _ keys: [EntityKey], viewer: Viewer
  ) async throws(StorageError) -> [EntityKey: EntityRecord] {
    let (catalogue, directory, touches) = (catalogue, directory, touches)
    return try await reader.read { database in
      let scopes = try viewer.layers.compactMap { try directory.id(of: $0, database) }
      let loader = EntityLoader(database, scopes: scopes, touches)
      var records: [EntityKey: EntityRecord] = [:]
      for (type, keys) in Dictionary(grouping: keys, by: \.type) {
        guard let table = catalogue[type], !scopes.isEmpty else { continue }
        for (key, loaded) in try loader.load(keys.map(\.key), from: table) {
          records[EntityKey(type: type, key: key.text)] = loaded.record
        }
      }
      return records
    }
  }

  /// - Parameter lane: of a query of a caller's own making; nil for one whose cost is bounded.
  func read<Answer: Sendable>(
    _ lane: QueryLane?, within deadline: QueryDeadline?,
    _ body: @escaping @Sendable (Database) throws -> Answer
  ) async throws(StorageError) -> Answer {
    if let lane { return try await queries.read(lane, within: deadline, body) }
    if let deadline { return try await longReader.read(within: deadline, body) }
    return try await longReader.read(body)
  }
}

extension EntityQuery {
  /// Places passed over, and members, that a bounded page can have.
  private static let boundedPlacesMax = 1_000

  /// Whether a page takes its rows from the table in the order they stand in, and no others.
  fileprivate var isBounded: Bool {
    filter == nil && order.terms.isEmpty && !wantsTotal && section == nil
      && offset <= Self.boundedPlacesMax && members?.count ?? 0 <= Self.boundedPlacesMax
  }
}
