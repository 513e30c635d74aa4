import GRDB
package import Model

extension Store {
  /// Entities whose text has every word, best first, as far as the viewer sees them.
  ///
  /// - Parameters:
  ///   - types: those without search fields find nothing.
  ///   - offset: hits passed over.
  package func search(
    _ text: SearchText, types: [EntityType], viewer: Viewer, limit: Int, offset: Int = 0,
    deadline: QueryDeadline? = nil
  ) async throws(StorageError) -> [SearchHit] {
    let (catalogue, directory, touches) = (catalogue, directory, touches)
    return try await read(QueryLane(.search, of: viewer), within: deadline) { database in
      let known = try viewer.layers.compactMap { try directory.id(of: $0, database) }
      var found: [(SearchRun.Found, SearchRun, EntityTable)] = []
      for type in types where !type.search.isEmpty {
        guard let table = catalogue[type.name] else { continue }
        let scopes = try EntitySource(table, fields: [], scopes: known, database).scopes
        guard !scopes.isEmpty else { continue }
        let run = SearchRun(
          text, SearchIndex(table: table, fields: type.search), scopes: scopes, database)
        found += try run.best(offset + limit).map { ($0, run, table) }
      }
      found.sort { SearchRun.isBefore($0.0, $1.0) }
      let loader = EntityLoader(database, scopes: known, touches)
      return try found.dropFirst(offset).prefix(limit).compactMap { hit, run, table in
        guard
          let record = try loader.load([hit.key.key], from: table)[ExactText(hit.key.key)]?
            .record,
          !record.isDeleted
        else { return nil }
        return SearchHit(
          key: hit.key, score: hit.score, snippet: try run.snippet(of: hit), record: record)
      }
    }
  }
}
