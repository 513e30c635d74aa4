package import Model

extension Store {
  /// Writes one upstream answer in one transaction, field by field by the order rule.
  ///
  /// Content that is already stored bumps no revision. The report tells what changed once it is
  /// on disk as far as the operating system is concerned (not through a power failure).
  package func apply(_ answer: NormalisedAnswer) async throws(StorageError) -> CommitReport {
    throw .closed
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
    throw .closed
  }

  /// Removes what the targets name: entities (of a type) with a change row that says so, results
  /// of an operation or a tag altogether. Answers that began before `call` cannot bring it back.
  package func purge(
    _ targets: [InvalidationTarget], in scope: Scope?, call: CallNumber, horizon: CallNumber
  ) async throws(StorageError) -> CommitReport {
    throw .closed
  }

  /// Drops one stored result (its caller may no longer see it); entities stay.
  package func forget(_ key: ResultKey) async throws(StorageError) {
    throw .closed
  }
}
