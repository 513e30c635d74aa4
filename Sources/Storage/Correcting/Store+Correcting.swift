package import Model

extension Store {
  /// Does a list of corrections in one transaction: all of it, or nothing.
  ///
  /// - Parameters:
  ///   - corrections: naming each entity once.
  ///   - call: taken now; what began before it cannot undo them.
  ///   - horizon: the oldest call in flight.
  ///   - deadline: of looking for the entities of each filter; nobody writes meanwhile.
  package func correct(
    _ corrections: [EntityCorrection], in scope: Scope, call: CallNumber, horizon: CallNumber,
    now: Timestamp, deadline: QueryDeadline? = nil
  ) async throws(StorageError) -> Result<WriteCommit, WriteRefusal> {
    let catalogue = catalogue
    return try await refusable { database, memory in
      let context = WriteContext(database, memory, catalogue, call: call, horizon: horizon)
      let corrector = EntityCorrector(
        context: context, call: call, horizon: horizon, scope: scope, now: now,
        deadline: deadline)
      let outcomes = try corrector.perform(corrections)
      return WriteCommit(outcomes: outcomes, report: context.finish())
    }
  }
}
