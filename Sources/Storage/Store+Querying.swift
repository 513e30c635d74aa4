package import Filtering
import GRDB
package import Model

extension Store {
  /// Returns a page of a type's entities as a viewer sees them: filter, order, total and sections
  /// use the values that are shown.
  ///
  /// Runs concurrently with short look-ups, and no longer than the deadline. A page in key order
  /// without conditions never waits for other callers' conditions.
  ///
  /// - Throws: ``StorageError/tooCostly`` when stopped, ``StorageError/overloaded`` when not begun.
  package func page(
    _ query: EntityQuery, viewer: Viewer, deadline: QueryDeadline? = nil
  ) async throws(StorageError) -> EntityPage {
    let (catalogue, directory, touches, memories) = (catalogue, directory, touches, rowMemories)
    let lane =
      query.isBounded && viewer.layers.count == 1 ? nil : QueryLane(.collection, of: viewer)
    return try await read(lane, within: deadline) { database in
      guard let table = catalogue[query.type.name] else { return EntityPage(items: []) }
      let scopes = try ViewerScopes(viewer, catalogue) { try directory.id(of: $0, database) }
      return try EntityQueryRun(
        query, table, scopes: scopes, catalogue, touches, memory: try memories.begin(database),
        database
      ).page()
    }
  }

  /// Returns a page of a list whose members are of several types.
  package func page(
    _ query: MixedQuery, viewer: Viewer, deadline: QueryDeadline? = nil
  ) async throws(StorageError) -> EntityPage {
    let (catalogue, directory, touches) = (catalogue, directory, touches)
    return try await read(QueryLane(.collection, of: viewer), within: deadline) { database in
      let scopes = try ViewerScopes(viewer, catalogue) { try directory.id(of: $0, database) }
      return try MixedQueryRun(
        query: query, catalogue: catalogue, scopes: scopes, touches: touches, database: database
      ).page()
    }
  }

  /// Returns the number of entities of each type that a viewer sees.
  package func counts(
    of types: [EntityType], viewer: Viewer, deadline: QueryDeadline? = nil
  ) async throws(StorageError) -> [String: Int] {
    let (catalogue, directory, touches) = (catalogue, directory, touches)
    return try await read(QueryLane(.collection, of: viewer), within: deadline) { database in
      let scopes = try ViewerScopes(viewer, catalogue) { try directory.id(of: $0, database) }
      var counts: [String: Int] = [:]
      for type in types {
        guard let table = catalogue[type.name] else { continue }
        let query = EntityQuery(type: type, limit: 0, wantsTotal: true)
        counts[type.name] =
          try EntityQueryRun(query, table, scopes: scopes, catalogue, touches, database).page()
          .total
      }
      return counts
    }
  }

  /// Returns the members of relationships of several owners, from one snapshot.
  ///
  /// - Throws: as ``page(_:viewer:deadline:)``.
  package func related(
    _ queries: [RelatedQuery], viewer: Viewer, deadline: QueryDeadline? = nil
  ) async throws(StorageError) -> RelatedEntities {
    let (catalogue, directory, touches, memories) = (catalogue, directory, touches, rowMemories)
    let lane =
      queries.allSatisfy(\.isBounded) && viewer.layers.count == 1
      ? nil : QueryLane(.collection, of: viewer)
    return try await read(lane, within: deadline) { database in
      let scopes = try ViewerScopes(viewer, catalogue) { try directory.id(of: $0, database) }
      var run = RelatedQueryRun(
        queries, catalogue: catalogue, scopes: scopes, touches: touches,
        memory: try memories.begin(database), database: database)
      return try run.run()
    }
  }

  /// Returns entities of any types by key; those without stored rows are absent.
  package func entities(
    _ keys: [EntityKey], viewer: Viewer
  ) async throws(StorageError) -> [EntityKey: EntityRecord] {
    let (catalogue, directory, touches) = (catalogue, directory, touches)
    return try await reader.read { database in
      let scopes = try ViewerScopes(viewer, catalogue) { try directory.id(of: $0, database) }
      let loader = EntityLoader(database, scopes: scopes, touches)
      var records: [EntityKey: EntityRecord] = [:]
      for (type, keys) in Dictionary(grouping: keys, by: \.type) {
        guard let table = catalogue[type], !scopes.isEmpty else { continue }
        for (key, loaded) in zip(keys, try loader.load(keys.map(\.key), from: table)) {
          if let loaded { records[key] = loaded.record }
        }
      }
      return records
    }
  }

  /// Reads on the connection that fits the cost of a query.
  ///
  /// - Parameter lane: the lane of a query of a caller's own making; nil for one whose cost is
  ///   bounded.
  func read<Output: Sendable>(
    _ lane: QueryLane?, within deadline: QueryDeadline?,
    _ body: @escaping @Sendable (Database) throws -> Output
  ) async throws(StorageError) -> Output {
    if let lane { return try await queries.read(lane, within: deadline, body) }
    if let deadline { return try await longReader.read(within: deadline, body) }
    return try await longReader.read(body)
  }
}

extension RelatedQuery {
  /// Whether it loads members by key alone.
  fileprivate var isBounded: Bool {
    if case .members = source { order.terms.isEmpty } else { false }
  }
}

extension EntityQuery {
  /// Limit of the offset and of the members of a bounded page.
  private static let boundedPlacesMax = 1_000

  /// Whether a page reads only its own rows from the table, in stored order.
  fileprivate var isBounded: Bool {
    filter == nil && order.terms.isEmpty && !wantsTotal && section == nil
      && offset <= Self.boundedPlacesMax && members?.count ?? 0 <= Self.boundedPlacesMax
  }
}

extension Store {
  /// Returns entities whose text has every word, best first, as far as the viewer sees them.
  ///
  /// - Parameters:
  ///   - types: the types to search; those without search fields have no hits.
  ///   - offset: the number of hits to skip.
  package func search(
    _ text: SearchText, types: [EntityType], viewer: Viewer, limit: Int, offset: Int = 0,
    deadline: QueryDeadline? = nil
  ) async throws(StorageError) -> SearchPage {
    let (catalogue, directory, touches) = (catalogue, directory, touches)
    return try await read(QueryLane(.search, of: viewer), within: deadline) { database in
      let known = try ViewerScopes(viewer, catalogue) { try directory.id(of: $0, database) }
      var found: [(SearchRun.Found, SearchRun, EntityTable)] = []
      var isApproximate = false
      for type in types where !type.search.isEmpty {
        guard let table = catalogue[type.name] else { continue }
        let visible = try EntitySource(table, scopes: known, database).visible
        guard !visible.isEmpty else { continue }
        let run = try SearchRun(
          text, SearchIndex(table: table, fields: type.search), visible: visible, database)
        let ranking = try run.best(offset + limit)
        if !ranking.isComplete { isApproximate = true }
        found += ranking.found.map { ($0, run, table) }
      }
      found.sort { SearchRun.isBefore($0.0, $1.0) }
      let loader = EntityLoader(database, scopes: known, touches)
      let hits = try found.dropFirst(offset).prefix(limit).compactMap {
        hit, run, table -> SearchHit? in
        guard
          let record = try loader.load(hit.key.key, from: table)?.record, !record.isDeleted
        else { return nil }
        return SearchHit(
          key: hit.key, score: hit.score, snippet: try run.snippet(of: hit), record: record)
      }
      return SearchPage(hits: hits, isApproximate: isApproximate)
    }
  }
}
