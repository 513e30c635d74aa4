import GRDB
package import Model

extension Store {
  /// Writes one upstream response in one transaction, field by field by the order rule.
  ///
  /// Content that is already stored takes no revision. The report lists the changes; they are on
  /// disk as far as the operating system is concerned (not through a power failure).
  ///
  /// - Parameter outcome: the outcome of the mutation whose response it is, for hooks.
  package func apply(
    _ response: NormalisedResponse, outcome: SettledOutcome? = nil
  ) async throws(StorageError) -> CommitReport {
    try await command(call: response.call, horizon: response.horizon) { context in
      try NormalisedResponseWriter(response, context).write()
      if let outcome {
        try context.memory.hooks?.write(outcome, in: context, at: response.received)
      }
    }
  }

  /// Writes several responses in one transaction, in their order. Each has a call number of its own,
  /// higher than that of the response before it.
  ///
  /// - Returns: what all of them changed.
  @discardableResult
  package func apply(
    _ responses: [NormalisedResponse]
  ) async throws(StorageError) -> CommitReport {
    let catalogue = catalogue
    return try await writer.write { database, memory in
      let reports = try responses.map { response in
        let context = WriteContext(
          database, memory, catalogue, call: response.call, horizon: response.horizon)
        try NormalisedResponseWriter(response, context).write()
        return context.finish()
      }
      return CommitReport(joining: reports, head: Revision(memory.counters.revision))
    }
  }

  /// Marks the targets as due for a refetch; values stay for stale-if-error.
  ///
  /// - Parameters:
  ///   - scope: nil means every scope.
  ///   - call: taken now; responses of calls that began before it arrive due.
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

  /// Removes the targets: entities (of a type) with a change row that records it, and results of an
  /// operation or a tag altogether. Responses of calls that began before `call` cannot restore
  /// them.
  package func purge(
    _ targets: [InvalidationTarget], in scope: Scope?, call: CallNumber, horizon: CallNumber
  ) async throws(StorageError) -> CommitReport {
    try await command(call: call, horizon: horizon) { context in
      let scope = try scope.map { try context.memory.scopeID($0, context.database) }
      let purger = StorePurge(context)
      for target in targets { try purger.purge(target, scope: scope) }
    }
  }

  /// Removes one stored result (its caller must not see it any more); entities stay.
  package func forget(_ key: ResultKey) async throws(StorageError) {
    try await writer.write { database, memory in
      // Does not create the scope: an unknown credential that upstream refuses leaves no rows.
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
