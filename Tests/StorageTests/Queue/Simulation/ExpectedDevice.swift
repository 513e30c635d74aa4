import LosslessJSON
import Model
import Storage

/// What the store must say of one device, by all that it has taken, whether anybody heard of it or
/// not.
struct ExpectedDevice {
  /// What stands over a film although its mutation was settled: the answer did not say it.
  private struct Lingering {
    let mutation: MutationID
    let place: Int64
    let call: CallNumber
    let until: Timestamp
    var changes: [OverlayChange]
  }

  /// What an answer says of one film.
  struct Said {
    let call: CallNumber
    let film: EntityKey
    /// Names of fields; nil where it says that the film is gone.
    let fields: Set<String>?
  }

  private(set) var taken: [MutationID: SimulatedPhone.Wish] = [:]
  private(set) var ids: [String: MutationID] = [:]
  private(set) var resolved: [TemporaryID: EntityKey] = [:]
  private var lingering: [Lingering] = []

  // MARK: What happens

  /// - Returns: what is wrong with the receipt.
  mutating func take(
    _ wish: SimulatedPhone.Wish, _ receipt: MutationReceipt, offered: MutationID
  ) -> String? {
    let id = receipt.mutation.id
    guard let known = ids[wish.key] else {
      guard id == offered, !receipt.isReplay else { return "1: \(wish.key) is new and \(receipt)" }
      taken[id] = wish
      ids[wish.key] = id
      return nil
    }
    // A forced one is armed again by its key.
    let isReplay = receipt.isReplay || wish.change.mode == .force
    return id == known && isReplay ? nil : "1: \(wish.key) is \(known) and \(id)"
  }

  /// One was applied.
  ///
  /// - Parameter place: that it had in the queue.
  mutating func settle(
    _ id: MutationID, place: Int64, created: [TemporaryID: EntityKey], by said: Said,
    at now: Timestamp
  ) {
    resolved.merge(created) { $1 }
    let rest = changes(of: id)
    guard !rest.allSatisfy({ said.covers($0) }) else { return }
    lingering.append(
      Lingering(
        mutation: id, place: place, call: said.call, until: now.advanced(by: .seconds(30)),
        changes: taken[id]?.change.overlays ?? []))
  }

  /// An answer came, whoever asked for it.
  mutating func land(_ said: Said) {
    for index in lingering.indices where lingering[index].call < said.call {
      lingering[index].changes.removeAll {
        said.outdates($0.resolving(resolved))
      }
    }
    lingering.removeAll(where: \.changes.isEmpty)
  }

  mutating func expire(at now: Timestamp) {
    lingering.removeAll { $0.until <= now }
  }

  // MARK: What must be seen

  /// What a mutation is expected to do, in the ids that are known by now.
  func changes(of id: MutationID) -> [OverlayChange] {
    (taken[id]?.change.overlays ?? []).map { $0.resolving(resolved) }
  }

  /// Films as the device sees them.
  ///
  /// - Parameters:
  ///   - base: as everybody does.
  ///   - unsettled: the device's own that have come to no end.
  func shown(
    over base: [String: [String: String]], unsettled: [Mutation]
  ) throws -> [String: [String: String]] {
    let waiting = unsettled.map { ($0.place, $0.id, changes(of: $0.id)) }
    let standing = lingering.map { row in
      (row.place, row.mutation, row.changes.map { $0.resolving(resolved) })
    }
    var films = base.mapValues(ExpectedFilm.init(base:))
    for (_, id, changes) in (waiting + standing).sorted(by: { $0.0 < $1.0 }) {
      for change in changes {
        try films[change.key.key, default: ExpectedFilm(base: nil)].lay(change, of: id)
      }
    }
    return films.compactMapValues(\.shown)
  }
}

extension ExpectedDevice.Said {
  /// Whether the answer to a mutation says all that was expected of it.
  fileprivate func covers(_ change: OverlayChange) -> Bool {
    change.key == film && (change.action == .delete ? fields == nil : outdates(change))
  }

  /// Whether a later answer says what a change stands over.
  fileprivate func outdates(_ change: OverlayChange) -> Bool {
    guard change.key == film else { return false }
    guard let fields else { return true }
    let expected = (try? JSONValue(parsing: change.fields))?.members ?? []
    return expected.allSatisfy { fields.contains($0.name) }
  }
}

extension OverlayChange {
  /// The same with the real entities in the place of temporary ids that are known.
  fileprivate func resolving(_ known: [TemporaryID: EntityKey]) -> OverlayChange {
    let fields = (try? JSONValue(parsing: fields)).map { TemporaryID.substituting(known, in: $0) }
    return OverlayChange(
      action, TemporaryID(key.key).flatMap { known[$0] } ?? key,
      fields: fields?.bytes ?? self.fields)
  }
}
