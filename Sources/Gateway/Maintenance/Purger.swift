package import Model
package import Storage

/// Deletes stored data on an operator's request.
package struct Purger: Sendable {
  private let store: Store
  private let calls: CallSequence
  private let epoch: MutationEpoch
  private let ownTypes: Set<String>
  private let upstreamTypes: Set<String>

  /// - Parameters:
  ///   - ownTypes: local types, which cannot be purged.
  ///   - upstreamTypes: all others.
  package init(
    store: Store, calls: CallSequence, epoch: MutationEpoch, ownTypes: Set<String> = [],
    upstreamTypes: Set<String>
  ) {
    self.ownTypes = ownTypes
    self.upstreamTypes = upstreamTypes
    self.store = store
    self.calls = calls
    self.epoch = epoch
  }

  /// Deletes the targets. Upstream calls that began before the purge cannot restore the deleted
  /// data.
  ///
  /// - Returns: the number of deleted entities.
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
        .storageUnavailable, "The database cannot be written; retry later.", retry: .after,
        retryAfter: .seconds(5), cause: "\(error)")
    }
  }

  /// Cached data can be fetched again; local data has no other source.
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
        .malformedRequest, "Local types cannot be purged; only their owner can delete them.",
        details: own.map {
          Failure.Detail(place: .pointer("/type"), detail: "\($0) is a local type")
        })
    }
    let unknown = Set(named).subtracting(upstreamTypes).sorted()
    guard unknown.isEmpty else {
      throw Failure(
        .malformedRequest, "Only types whose entities are stored can be purged.",
        details: unknown.map {
          Failure.Detail(
            place: .pointer("/type"),
            detail: "\($0) is no object type that an operation selects; GET /v1/entities lists them"
          )
        })
    }
  }
}
