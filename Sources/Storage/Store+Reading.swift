import GRDB
package import Model

extension Store {
  /// Returns a stored result with every entity its selection reaches for this viewer, from one
  /// snapshot; nil if it was never stored or was purged.
  package func result(
    _ key: ResultKey, selection: FieldSelection, viewer: Viewer
  ) async throws(StorageError) -> ResultSnapshot? {
    let (catalogue, directory, touches) = (catalogue, directory, touches)
    return try await reader.read { database in
      try ResultLoader(database, catalogue, directory, touches)
        .load(key, selection: selection, viewer: viewer)
    }
  }

  /// Returns what ``result(_:selection:viewer:)`` would if a response were stored; nil if nothing
  /// of it can be.
  package func result(
    passing response: NormalisedResponse, selection: FieldSelection, viewer: Viewer
  ) async throws(StorageError) -> ResultSnapshot? {
    let (catalogue, directory, touches) = (catalogue, directory, touches)
    return try await reader.read { database in
      try ResultLoader(database, catalogue, directory, touches)
        .load(passing: response, selection: selection, viewer: viewer)
    }
  }

  /// Returns a result that was not stored, of the entities that its root refers to. It is as old as the
  /// oldest of them.
  ///
  /// - Parameter root: the root fields, see ``Model/ResultSnapshot/root``.
  package func result(
    of key: ResultKey, root: [UInt8], selection: FieldSelection, viewer: Viewer
  ) async throws(StorageError) -> ResultSnapshot {
    let (catalogue, directory, touches) = (catalogue, directory, touches)
    return try await reader.read { database in
      try ResultLoader(database, catalogue, directory, touches)
        .load(root: root, of: key, selection: selection, viewer: viewer)
    }
  }

  /// Returns one entity as a viewer sees it; nil if no layer has a row of it.
  package func entity(
    _ key: EntityKey, viewer: Viewer
  ) async throws(StorageError) -> EntityRecord? {
    let (catalogue, directory, touches) = (catalogue, directory, touches)
    return try await reader.read { database in
      try ResultLoader(database, catalogue, directory, touches).load(key, viewer: viewer)
    }
  }

  /// Returns the last revision that changed something in each of the viewer's scopes, in their
  /// order.
  package func heads(of viewer: Viewer) async throws(StorageError) -> [Revision] {
    let directory = directory
    return try await reader.read { database in
      try viewer.layers.map { scope in
        var scopes = [scope]
        if scope.kind == .device { scopes.append(.localFields(ofDevice: scope.subject)) }
        let heads = try scopes.compactMap { scope -> Int64? in
          guard let id = try directory.id(of: scope, database) else { return nil }
          let statement = try PreparedStatement(
            database, "SELECT coalesce(max(revision), 0) FROM change WHERE scope = ?1")
          statement.bind(id, at: 1)
          defer { statement.reset() }
          return try statement.step() ? statement.int64(0) : nil
        }
        return heads.max().map { Revision($0) } ?? .zero
      }
    }
  }
}
