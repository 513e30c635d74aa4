package import Model

extension Store {
  /// Does a list of corrections in one transaction: all of it, or nothing.
  ///
  /// - Parameters:
  ///   - corrections: naming each entity once.
  ///   - call: taken now; what began before it cannot undo them.
  ///   - horizon: the oldest call in flight.
  ///   - deadline: of looking for the entities of all filters, before the writer is asked.
  package func correct(
    _ corrections: [EntityCorrection], in scope: Scope, call: CallNumber, horizon: CallNumber,
    now: Timestamp, deadline: QueryDeadline? = nil
  ) async throws(StorageError) -> Result<WriteCommit, WriteRefusal> {
    let searches = corrections.enumerated().compactMap {
      (place, correction) -> FilterMatches.Search? in
      guard case .filter(let filter) = correction.target else { return nil }
      return FilterMatches.Search(
        place: place, type: correction.type, filter: filter, scope: scope,
        pointer: correction.pointer)
    }
    let matches: FilterMatches
    switch try await self.matches(
      searches, lane: QueryLane(.write, in: scope), within: deadline)
    {
    case .success(let found): matches = found
    case .failure(let refusal): return .failure(refusal)
    }
    let catalogue = catalogue
    return try await refusable { database, memory in
      let context = WriteContext(database, memory, catalogue, call: call, horizon: horizon)
      let corrector = EntityCorrector(
        context: context, call: call, horizon: horizon, scope: scope, now: now,
        recheck: FilterRecheck(matches, context, deadline: deadline))
      let outcomes = try corrector.perform(corrections)
      return WriteCommit(outcomes: outcomes, report: context.finish())
    }
  }
}
