import Model

/// Look-ups by key that were answered null: the second one in a row says that the entity is gone.
///
/// "In a row" is meant in the order of the calls, so an event counts once nothing older can
/// arrive. Kept in memory: after a restart an entity needs its two absences anew.
struct AbsenceLedger {
  struct Place: Hashable {
    let scope: Int64
    let key: EntityKey
  }

  struct Deletion: Equatable {
    let place: Place
    let call: Int64
  }

  private struct Event {
    let call: Int64
    let isPresent: Bool
  }

  private struct Record {
    /// An absence that counts, with no presence since.
    var isDoubted = false
    /// The last absence that counts.
    var lastAbsence: Int64 = 0
    /// Above the horizon, in the order of their calls.
    var events: [Event] = []
  }

  /// Entities in doubt at once. Past this the ledger starts over: absences are then counted late,
  /// never wrongly.
  static let placesMax = 10_000

  private var records: [Place: Record] = [:]
  /// Those of the records that have events: all that ``settle(horizon:)`` looks at.
  private var open: Set<Place> = []

  var isEmpty: Bool { records.isEmpty }

  /// - Parameter presences: the calls above the horizon that showed the entity before there was a
  ///   reason to note it, see ``PresenceHistory``.
  mutating func noteAbsence(at place: Place, call: Int64, presences: [Int64]) {
    startOverIfFull()
    if records[place] == nil {
      for call in presences { insert(Event(call: call, isPresent: true), at: place) }
    }
    insert(Event(call: call, isPresent: false), at: place)
  }

  /// Matters only where an absence is on record.
  mutating func notePresence(at place: Place, call: Int64) {
    guard records[place] != nil else { return }
    insert(Event(call: call, isPresent: true), at: place)
  }

  private mutating func insert(_ event: Event, at place: Place) {
    var record = records[place] ?? Record()
    let index = record.events.firstIndex { $0.call > event.call } ?? record.events.count
    record.events.insert(event, at: index)
    records[place] = record
    open.insert(place)
  }

  private mutating func startOverIfFull() {
    guard records.count >= Self.placesMax else { return }
    records.removeAll()
    open.removeAll()
  }

  /// Whether a look-up that counts, begun behind a call, found the entity absent.
  func isDoubted(_ place: Place, since call: Int64) -> Bool {
    guard let record = records[place] else { return false }
    return record.isDoubted && record.lastAbsence > call
      || record.events.contains { !$0.isPresent && $0.call > call }
  }

  /// One absence is taken for granted: the next one deletes.
  mutating func doubt(_ place: Place, call: Int64) {
    startOverIfFull()
    records[place, default: Record()].isDoubted = true
    records[place]?.lastAbsence = call
  }

  /// - Returns: the deletions that are certain now that nothing older than the horizon can arrive.
  mutating func settle(horizon: Int64) -> [Deletion] {
    var deletions: [Deletion] = []
    for place in open {
      guard var record = records[place], let first = record.events.first, first.call <= horizon
      else { continue }
      while let event = record.events.first, event.call <= horizon {
        record.events.removeFirst()
        if event.isPresent {
          record.isDoubted = false
        } else if record.isDoubted {
          deletions.append(Deletion(place: place, call: event.call))
          record.isDoubted = false
        } else {
          record.isDoubted = true
          record.lastAbsence = event.call
        }
      }
      if record.events.isEmpty { open.remove(place) }
      records[place] = record.isDoubted || !record.events.isEmpty ? record : nil
    }
    return deletions
  }
}
