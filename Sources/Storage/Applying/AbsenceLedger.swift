import Model

/// Look-ups by key that returned null: the second one in a row means that the entity is deleted.
///
/// "In a row" means in the order of the calls, so an event counts once nothing older can arrive.
/// Kept in memory: after a restart two new absences are needed.
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
    /// Whether an absence counts, with no presence since.
    var isDoubted = false
    /// The call of the last absence that counts.
    var lastAbsence: Int64 = 0
    /// The events above the horizon, in the order of their calls.
    var events: [Event] = []
  }

  /// Limit of entities in doubt. Beyond it the ledger starts over: absences are then counted late,
  /// never wrongly.
  static let placesMax = 10_000

  private var records: [Place: Record] = [:]
  /// The records that have events: only these need ``settle(horizon:)``.
  private var open: Set<Place> = []

  var isEmpty: Bool { records.isEmpty }

  /// Records an absence.
  ///
  /// - Parameter presences: the calls above the horizon that returned the entity before there was a
  ///   reason to record it, see ``PresenceHistory``.
  mutating func noteAbsence(at place: Place, call: Int64, presences: [Int64]) {
    startOverIfFull()
    if records[place] == nil {
      for call in presences { insert(Event(call: call, isPresent: true), at: place) }
    }
    insert(Event(call: call, isPresent: false), at: place)
  }

  /// Records a presence, if an absence is on record.
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

  /// Whether a look-up that counts, begun after a call, found the entity absent.
  func isDoubted(_ place: Place, since call: Int64) -> Bool {
    guard let record = records[place] else { return false }
    return record.isDoubted && record.lastAbsence > call
      || record.events.contains { !$0.isPresent && $0.call > call }
  }

  /// Counts one absence, so that the next one deletes the entity.
  mutating func doubt(_ place: Place, call: Int64) {
    startOverIfFull()
    records[place, default: Record()].isDoubted = true
    records[place]?.lastAbsence = call
  }

  /// Settles events up to the horizon.
  ///
  /// - Returns: the deletions that are certain, since nothing older than the horizon can arrive.
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

/// The entities of responses that an older call can still contradict.
///
/// An absence that arrives late must be judged together with presences that arrived before it. A
/// record for each presence would be wasteful, since nearly all entities are never absent. So the
/// responses' own entity lists are kept, shared and not copied, and searched if an absence arrives.
struct PresenceHistory {
  private struct Response {
    let call: Int64
    let scope: Int64
    let entities: [NormalisedResponse.Entity]
  }

  /// Limit of entities in the lists, about 20 MiB. Beyond it the history starts over, and absences
  /// of calls it no longer covers are not counted: a deletion is then detected late, never wrongly.
  static let entitiesMax = 100_000

  private var responses: [Response] = []
  private var entityCount = 0
  private var lastForgotten: Int64 = 0

  mutating func note(_ entities: [NormalisedResponse.Entity], scope: Int64, call: Int64) {
    guard !entities.isEmpty else { return }
    if entityCount + entities.count > Self.entitiesMax { forget() }
    responses.append(Response(call: call, scope: scope, entities: entities))
    entityCount += entities.count
  }

  private mutating func forget() {
    lastForgotten = responses.reduce(lastForgotten) { max($0, $1.call) }
    responses = []
    entityCount = 0
  }

  /// Forgets responses that no absence can be older than.
  mutating func prune(horizon: Int64) {
    guard responses.contains(where: { $0.call <= horizon }) else { return }
    responses.removeAll { $0.call <= horizon }
    entityCount = responses.reduce(0) { $0 + $1.entities.count }
  }

  /// Whether every presence after a call is still known.
  func isComplete(since call: Int64) -> Bool { call > lastForgotten }

  func calls(showing key: EntityKey, scope: Int64) -> [Int64] {
    responses.filter { response in
      response.scope == scope && response.entities.contains { $0.key == key }
    }.map(\.call)
  }
}
