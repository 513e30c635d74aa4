package import Model

extension Store {
  /// Performs one step of eviction and of the expiry of tombstones: about four milliseconds of the
  /// writer. Call again soon until the report has no more work; then start again after some
  /// minutes.
  ///
  /// An evicted entity is not deleted: no cursor reports it and no revision is taken. Entities that
  /// a live result reaches, through any number of references and in any scope, are never evicted.
  ///
  /// - Parameter now: wall-clock time; never earlier than in the call before, unless the clock was
  ///   set back.
  package func evict(
    _ policy: EvictionPolicy, at now: Timestamp
  ) async throws(StorageError) -> EvictionReport {
    try await evict(policy, at: now, work: EvictionWork())
  }

  func evict(
    _ policy: EvictionPolicy, at now: Timestamp, work: EvictionWork
  ) async throws(StorageError) -> EvictionReport {
    try await writer.write(keepsNotes: true, report: Self.commit) { [self] database, memory in
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
        // Half a step can be rolled back; the pass's knowledge of it would be wrong.
        memory.eviction = nil
        throw error
      }
    }
  }

  /// Only the expiry of local fields changes what viewers see.
  private static func commit(of report: EvictionReport) -> CommitReport? {
    guard !report.changes.isEmpty, let revision = report.revision else { return nil }
    return CommitReport(
      revision: revision, changes: report.changes, invalidated: [], resultChanged: false,
      isExact: true, head: revision)
  }

  /// The last revision that lost a deletion: a cursor before or inside it cannot be continued. A
  /// reader of the log must compare inside its own transaction.
  package var floor: Revision { writer.floor }
}
