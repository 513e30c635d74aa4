package import Model
package import Storage

/// Deletes stored data at an operator's word.
package struct Purger: Sendable {
  private let store: Store
  private let calls: CallSequence
  private let epoch: MutationEpoch

  package init(store: Store, calls: CallSequence, epoch: MutationEpoch) {
    self.store = store
    self.calls = calls
    self.epoch = epoch
  }

  /// Calls that began before the purge cannot bring back what it deleted.
  ///
  /// - Returns: how many entities went.
  package func purge(_ targets: [InvalidationTarget]) async throws(Failure) -> Int {
    let number = calls.begin()
    defer { calls.end(number) }
    do {
      let report = try await store.purge(
        targets, in: nil, call: number, horizon: calls.horizon(of: number))
      epoch.advance()
      return report.changes.count
    } catch {
      throw Failure(
        .storageUnavailable, "The store cannot be written at present.", retry: .after,
        retryAfter: .seconds(5), cause: "\(error)")
    }
  }
}
