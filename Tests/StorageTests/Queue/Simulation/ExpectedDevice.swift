import LosslessJSON
import Model
import Storage

/// The expected state of one device, given every mutation that the store accepted, whether or not
/// the response was delivered.
struct ExpectedDevice {
  /// An overlay that lingers after its mutation was settled, since the response did not cover it.
  private struct Lingering {
    let mutation: MutationID
    let place: Int64
    let call: CallNumber
    let until: Timestamp
    var changes: [OverlayChange]
  }

  /// The part of a response about one film.
  struct FilmUpdate {
    let call: CallNumber
    let film: EntityKey
    /// The names of its fields; nil if it reports the film as deleted.
    let fields: Set<String>?
  }

  private(set) var taken: [MutationID: SimulatedPhone.Wish] = [:]
  private(set) var ids: [String: MutationID] = [:]
  private(set) var resolved: [TemporaryID: EntityKey] = [:]
  private var lingering: [Lingering] = []

  // MARK: Events

  /// Records an enqueued mutation.
  ///
  /// - Returns: the fault of the receipt, if any.
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
    // A forced mutation is armed again by its key.
    let isReplay = receipt.isReplay || wish.change.mode == .force
    return id == known && isReplay ? nil : "1: \(wish.key) is \(known) and \(id)"
  }

  /// Records an applied mutation.
  ///
  /// - Parameter place: its place in the queue.
  mutating func settle(
    _ id: MutationID, place: Int64, created: [TemporaryID: EntityKey], by update: FilmUpdate,
    at now: Timestamp
  ) {
    resolved.merge(created) { $1 }
    let rest = changes(of: id)
    guard !rest.allSatisfy({ update.covers($0) }) else { return }
    lingering.append(
      Lingering(
        mutation: id, place: place, call: update.call, until: now.advanced(by: .seconds(30)),
        changes: taken[id]?.change.overlays ?? []))
  }

  /// Records a response, of any caller.
  mutating func applyUpdate(_ update: FilmUpdate) {
    for index in lingering.indices where lingering[index].call < update.call {
      lingering[index].changes.removeAll {
        update.outdates($0.resolving(resolved))
      }
    }
    lingering.removeAll(where: \.changes.isEmpty)
  }

  mutating func expire(at now: Timestamp) {
    lingering.removeAll { $0.until <= now }
  }

  // MARK: Expectations

  /// Returns the expected changes of a mutation, with the ids that are known by now.
  func changes(of id: MutationID) -> [OverlayChange] {
    (taken[id]?.change.overlays ?? []).map { $0.resolving(resolved) }
  }

  /// Films as the device sees them.
  ///
  /// - Parameters:
  ///   - base: the films as everyone sees them.
  ///   - unsettled: the device's own unfinished mutations.
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
        try films[change.key.key, default: ExpectedFilm(base: nil)].apply(change, of: id)
      }
    }
    return films.compactMapValues(\.shown)
  }
}

extension ExpectedDevice.FilmUpdate {
  /// Whether the response to a mutation covers an expected change.
  fileprivate func covers(_ change: OverlayChange) -> Bool {
    change.key == film && (change.action == .delete ? fields == nil : outdates(change))
  }

  /// Whether a later response covers what a change overlays.
  fileprivate func outdates(_ change: OverlayChange) -> Bool {
    guard change.key == film else { return false }
    guard let fields else { return true }
    let expected = (try? JSONValue(parsing: change.fields))?.members ?? []
    return expected.allSatisfy { fields.contains($0.name) }
  }
}

extension OverlayChange {
  /// Returns the same change with known temporary ids replaced by the real entities.
  fileprivate func resolving(_ known: [TemporaryID: EntityKey]) -> OverlayChange {
    let fields = (try? JSONValue(parsing: fields)).map { TemporaryID.substituting(known, in: $0) }
    return OverlayChange(
      action, TemporaryID(key.key).flatMap { known[$0] } ?? key,
      fields: fields?.bytes ?? self.fields)
  }
}

/// A film as a device must see it: the film everyone sees, overlaid with the device's own changes
/// in the order of its queue.
struct ExpectedFilm {
  /// The fields everyone sees, by name in canonical text; nil if there is no such film.
  private let base: [String: String]?
  private var own: [String: String] = [:]
  private var isHidden = false
  private var isCreated = false
  private var pending: [String] = []

  init(base: [String: String]?) {
    self.base = base
  }

  mutating func apply(_ change: OverlayChange, of mutation: MutationID) throws {
    if !pending.contains(mutation.value) { pending.append(mutation.value) }
    isHidden = change.action == .delete || (isHidden && change.action == .merge)
    if change.action == .create { isCreated = true }
    if change.action == .delete { own = [:] }
    guard !isHidden else { return }
    for member in try JSONValue(parsing: change.fields).members ?? [] {
      own[member.name] = member.value.canonicalText
    }
  }

  /// The fields the device sees; nil if it sees no such film.
  var shown: [String: String]? {
    guard !pending.isEmpty else { return base }
    // Changes of a film that is not there do not make one.
    guard !isHidden, base != nil || isCreated else { return nil }
    var shown = (base ?? [:]).merging(own) { $1 }
    shown["$pending"] = JSONValue.array(pending.map(JSONValue.string)).canonicalText
    return shown
  }
}
