import GRDB
package import Model

extension Store {
  /// Writes one upstream answer in one transaction, field by field by the order rule.
  ///
  /// Content that is already stored bumps no revision. The report tells what changed once it is
  /// on disk as far as the operating system is concerned (not through a power failure).
  package func apply(_ answer: NormalisedResponse) async throws(StorageError) -> CommitReport {
    try await command(call: answer.call, horizon: answer.horizon) { context in
      try NormalisedResponseWriter(answer, context).write()
    }
  }

  /// Marks what the targets name as due for refetch; values stay for stale-if-error.
  ///
  /// - Parameters:
  ///   - scope: nil means every scope.
  ///   - call: taken now; answers that began before it arrive due.
  ///   - horizon: the oldest call in flight.
  package func invalidate(
    _ targets: [InvalidationTarget], in scope: Scope?, call: CallNumber, horizon: CallNumber
  ) async throws(StorageError) -> CommitReport {
    try await command(call: call, horizon: horizon) { context in
      let scopes = try scope.map { [try context.memory.scopeID($0, context.database)] }
      let invalidator = Invalidator(context)
      for target in targets { try invalidator.invalidate(target, scopes: scopes) }
    }
  }

  /// Removes what the targets name: entities (of a type) with a change row that says so, results
  /// of an operation or a tag altogether. Answers that began before `call` cannot bring it back.
  package func purge(
    _ targets: [InvalidationTarget], in scope: Scope?, call: CallNumber, horizon: CallNumber
  ) async throws(StorageError) -> CommitReport {
    try await command(call: call, horizon: horizon) { context in
      let scope = try scope.map { try context.memory.scopeID($0, context.database) }
      let purger = Purger(context)
      for target in targets { try purger.purge(target, scope: scope) }
    }
  }

  /// Drops one stored result (its caller may no longer see it); entities stay.
  package func forget(_ key: ResultKey) async throws(StorageError) {
    try await writer.write { database, memory in
      // Not made for this: a stranger's credential that upstream refuses leaves nothing behind.
      guard let scope = try memory.existingScopeID(key.scope, database) else { return }
      let statement = try PreparedStatement(
        database,
        "DELETE FROM result WHERE scope = ?1 AND operation = ?2 AND variables = ?3")
      statement.bind(scope, at: 1)
      statement.bind(key.operation, at: 2)
      statement.bind(key.variables, at: 3)
      try statement.run()
    }
  }

  private func command(
    call: CallNumber, horizon: CallNumber, _ body: @escaping @Sendable (WriteContext) throws -> Void
  ) async throws(StorageError) -> CommitReport {
    let catalogue = catalogue
    return try await writer.write { database, memory in
      let context = WriteContext(database, memory, catalogue, call: call, horizon: horizon)
      try body(context)
      return context.finish()
    }
  }
}
