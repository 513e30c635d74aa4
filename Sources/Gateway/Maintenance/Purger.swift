import GraphQL
package import Model
package import Storage
package import Upstream

/// Deletes stored data on an operator's request.
package struct Purger: Sendable {
  /// The names that a purge can select by.
  package struct Names: Sendable {
    let operations: Set<String>
    let tags: Set<String>
    /// The types of entities that have another source.
    let types: Set<String>

    package init(_ registry: OperationRegistry) {
      operations = Set(registry.operations.map(\.name))
      tags = Set(registry.operations.flatMap(\.cache.tags))
      types = Set(registry.catalogue.types.map(\.name))
    }
  }

  /// What a purge did.
  package struct Report: Sendable {
    /// The number of deleted entities.
    package let count: Int
    /// The operations and tags that do not exist, each with the most similar name. Responses that were stored
    /// under their names are deleted all the same.
    package let unknown: [Failure.Detail]
  }

  private let store: Store
  private let calls: CallSequence
  private let epoch: MutationEpoch
  private let ownTypes: Set<String>
  private let names: Names

  /// - Parameter ownTypes: local types, which cannot be purged.
  package init(
    store: Store, calls: CallSequence, epoch: MutationEpoch, ownTypes: Set<String> = [],
    names: Names
  ) {
    self.ownTypes = ownTypes
    self.names = names
    self.store = store
    self.calls = calls
    self.epoch = epoch
  }

  /// Deletes the targets. Upstream calls that began before the purge cannot restore the deleted
  /// data.
  package func purge(_ targets: [InvalidationTarget]) async throws(Failure) -> Report {
    try refuseOwnData(targets)
    let number = calls.begin()
    defer { calls.end(number) }
    do {
      let report = try await store.purge(
        targets, in: nil, call: number, horizon: calls.horizon(of: number))
      epoch.advance()
      return Report(count: report.changes.count, unknown: unknown(among: targets))
    } catch {
      throw Failure(
        .storageUnavailable, "The database cannot be written; retry later.", retry: .after,
        retryAfter: .seconds(5), cause: "\(error)")
    }
  }

  private func unknown(among targets: [InvalidationTarget]) -> [Failure.Detail] {
    let details = targets.lazy.compactMap { target -> Failure.Detail? in
      switch target {
      case .operation(let name) where !names.operations.contains(name):
        Failure.Detail(
          place: .pointer("/operation"),
          detail: "There is no operation \(name); GET /v1/operations lists them."
            + NearestNames.didYouMean(name, among: names.operations))
      case .tag(let name) where !names.tags.contains(name):
        Failure.Detail(
          place: .pointer("/tag"),
          detail: "No operation has the tag \(name) in its @cache."
            + NearestNames.didYouMean(name, among: names.tags))
      case .entity, .type, .operation, .tag: nil
      }
    }
    // The search for a similar name has its price.
    return Array(details.prefix(Failure.Detail.countMax))
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
    let unknown = Set(named).subtracting(names.types).sorted()
    guard unknown.isEmpty else {
      throw Failure(
        .malformedRequest, "Only types whose entities are stored can be purged.",
        details: unknown.map {
          Failure.Detail(
            place: .pointer("/type"),
            detail:
              "\($0) is no object type that an operation selects; GET /v1/entities lists them."
              + NearestNames.didYouMean($0, among: names.types))
        })
    }
  }
}
