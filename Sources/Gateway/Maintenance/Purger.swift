package import Model
package import Storage

/// Deletes stored data at an operator's word.
package struct Purger: Sendable {
  private let store: Store
  private let calls: CallSequence
  private let epoch: MutationEpoch
  private let ownTypes: Set<String>

  /// - Parameter ownTypes: types that live here alone, which no purge touches.
  package init(
    store: Store, calls: CallSequence, epoch: MutationEpoch, ownTypes: Set<String> = []
  ) {
    self.ownTypes = ownTypes
    self.store = store
    self.calls = calls
    self.epoch = epoch
  }

  /// Calls that began before the purge cannot bring back what it deleted.
  ///
  /// - Returns: how many entities went.
  package func purge(_ targets: [InvalidationTarget]) async throws(Failure) -> Int {
    try refuseOwnData(targets)
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

  /// A cache is purged because its source has it still. Own data has no other source.
  private func refuseOwnData(_ targets: [InvalidationTarget]) throws(Failure) {
    let named = targets.compactMap { target in
      switch target {
      case .entity(let key): key.type
      case .type(let name): name
      case .operation, .tag: nil
      }
    }
    let own = Set(named).intersection(ownTypes).sorted()
    guard own.isEmpty else {
      throw Failure(
        .malformedRequest, "Own data is not purged: whoever it belongs to deletes it.",
        details: own.map {
          Failure.Detail(place: .pointer("/type"), detail: "\($0) is kept here alone")
        })
    }
  }
}
