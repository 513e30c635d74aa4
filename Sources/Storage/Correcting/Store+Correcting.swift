package import Filtering
package import Model

extension Store {
  /// Performs a list of corrections in one transaction, all or nothing.
  ///
  /// - Parameters:
  ///   - corrections: the corrections; each entity at most once.
  ///   - call: the number of a call that begins now; earlier calls cannot undo the corrections.
  ///   - horizon: the oldest call in flight.
  ///   - deadline: the time limit for finding the entities of all filters, before the write begins.
  ///   - key: under which the list is written at most once; nil for none.
  package func correct(
    _ corrections: [EntityCorrection], in scope: Scope, call: CallNumber, horizon: CallNumber,
    now: Timestamp, deadline: QueryDeadline? = nil, key: LocalWriteKey? = nil
  ) async throws(StorageError) -> Result<WriteCommit, WriteRefusal> {
    // Before the searches, which can find other entities by now.
    if let key, let known = try await replay(key) { return known }
    let searches = corrections.enumerated().compactMap {
      (place, correction) -> FilterMatches.Search? in
      guard case .filter(let filter) = correction.target else { return nil }
      return FilterMatches.Search(
        place: place, type: correction.type, filter: filter, scope: scope,
        viewer: Viewer(layers: [scope]), pointer: correction.pointer)
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
      let keys = LocalWriteKeys(database: database)
      if let known = try key.flatMap({ try keys.replay($0) }) {
        return WriteCommit(outcomes: [], report: context.finish(), replay: known)
      }
      let corrector = EntityCorrector(
        context: context, call: call, horizon: horizon, scope: scope, now: now,
        recheck: FilterRecheck(
          matches, context, viewer: Viewer(layers: [scope]), deadline: deadline))
      let outcomes = try corrector.perform(corrections)
      if let key { try keys.insert(key, outcomes: try key.encode(outcomes), at: now) }
      return WriteCommit(outcomes: outcomes, report: context.finish())
    }
  }
}
