package import Model

extension Store {
  /// Does one step of eviction and of the expiry of tombstones: about four milliseconds of the
  /// writer. Until the report says that there is no more to do, call again soon; then begin anew
  /// after some minutes.
  ///
  /// What goes is not deleted: no cursor hears of it and no revision is made. What a live result
  /// refers to, at any remove and in any scope, never goes.
  ///
  /// - Parameter now: of wall-clock time; never earlier than in the call before, unless the clock
  ///   went back.
  package func evict(
    _ policy: EvictionPolicy, at now: Timestamp
  ) async throws(StorageError) -> EvictionReport {
    try await evict(policy, at: now, work: EvictionWork())
  }

  func evict(
    _ policy: EvictionPolicy, at now: Timestamp, work: EvictionWork
  ) async throws(StorageError) -> EvictionReport {
    return try await writer.write(keepsNotes: true) { [self] database, memory in
      do {
        try RevisionTimes(database).note(head: memory.counters.revision, at: now)
        let pass =
          try memory.eviction
          ?? EvictionPass(
            database, memory, catalogue, now: now,
            isOverBudget: EvictionPass.bytesUsed(database) > policy.bytesMax)
        memory.eviction = pass
        let report = try pass.step(policy, at: now, work: work)
        if !report.hasMore { memory.eviction = nil }
        return report
      } catch {
        // Half a step may be undone; what the pass knows of it would be wrong.
        memory.eviction = nil
        throw error
      }
    }
  }

  /// The last revision of which a deletion is no longer known: a cursor before it, or inside it,
  /// cannot be continued. A reader of the log must compare inside its own transaction.
  package var floor: Revision { writer.floor }
}
