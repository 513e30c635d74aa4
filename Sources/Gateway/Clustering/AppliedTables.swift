/// What a replica drops from memory when the log changes tables: the writes happen on the leader, so nothing
/// here notices them otherwise.
///
/// Cached responses are not among it: they are dropped by the reports of commits, as on the leader.
package struct AppliedTables: Sendable {
  /// Something that is kept in memory of some tables.
  package struct Memory: Sendable {
    let tables: Set<String>
    let drop: @Sendable () async -> Void

    /// - Parameters:
    ///   - tables: the names of the tables that it is read from.
    ///   - drop: drops it, or reads it again. Must be safe to call at any time.
    package init(of tables: Set<String>, drop: @escaping @Sendable () async -> Void) {
      self.tables = tables
      self.drop = drop
    }
  }

  private let memories: [Memory]

  package init(_ memories: [Memory]) {
    self.memories = memories
  }

  /// The tables that any memory is read from.
  package var tables: Set<String> { memories.reduce(into: []) { $0.formUnion($1.tables) } }

  /// Drops what was read from tables that applied rows have changed. Call it after the rows are committed
  /// here, and before their position is reported as applied.
  ///
  /// - Parameter tables: the names of the tables that the rows touched.
  package func noteApplied(tables: Set<String>) async {
    for memory in memories where !memory.tables.isDisjoint(with: tables) { await memory.drop() }
  }
}
