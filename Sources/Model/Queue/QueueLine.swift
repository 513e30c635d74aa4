/// The items of a queue in the order of sending, with the index that answers what comes before what
/// without a walk over thousands.
struct QueueLine: Sendable {
  private struct Expiry: Comparable {
    let time: Timestamp
    let place: Int64

    static func < (left: Expiry, right: Expiry) -> Bool {
      (left.time, left.place) < (right.time, right.place)
    }
  }

  private var items: [Int64: Mutation] = [:]
  private var placesByID: [MutationID: Int64] = [:]
  private var order = SortedValues<Int64>()
  private var touching: [Footprint.Token: SortedValues<Int64>] = [:]
  private var counts: [MutationState: Int] = [:]
  /// How many wait for each upstream.
  private(set) var waitingUpstreams: [String: Int] = [:]
  private var expiries = SortedValues<Expiry>()

  // The places of those that are queued or in flight and …

  /// … steady: one waits for the one before.
  private(set) var steady = SortedValues<Int64>()
  private(set) var forced = SortedValues<Int64>()
  private(set) var inflight = SortedValues<Int64>()
  /// All that may have reached upstream, parked and expired ones too.
  private(set) var frozen = SortedValues<Int64>()

  var all: [Mutation] { order.values.compactMap { items[$0] } }
  var places: [Int64] { order.values }
  var isEmpty: Bool { items.isEmpty }
  var count: Int { items.count }
  /// About what the items take in memory, in kilobytes.
  private(set) var kilobytes = 0
  /// The earliest `expires` of those that wait.
  var firstExpiry: Timestamp? { expiries.first?.time }

  func count(of state: MutationState) -> Int { counts[state] ?? 0 }

  subscript(id: MutationID) -> Mutation? { placesByID[id].flatMap { items[$0] } }
  subscript(place: Int64) -> Mutation? { items[place] }

  /// Those that wait and whose `expires` has come.
  func overdue(at now: Timestamp) -> [Mutation] {
    expiries.values.prefix { $0.time <= now }.compactMap { items[$0.place] }
  }

  func places(touching token: Footprint.Token) -> SortedValues<Int64> {
    touching[token] ?? SortedValues()
  }

  func items(touching token: Footprint.Token) -> [Mutation] {
    places(touching: token).values.compactMap { items[$0] }
  }

  /// An item itself takes about one; each token of its footprint is a type and an id, which are some
  /// hundred bytes at most, kept here and in the index.
  private static func kilobytes(of mutation: Mutation) -> Int {
    1 + mutation.footprint.tokens.count / 2
  }

  mutating func insert(_ mutation: Mutation) {
    let place = mutation.place
    items[place] = mutation
    kilobytes += Self.kilobytes(of: mutation)
    placesByID[mutation.id] = place
    order.insert(place)
    counts[mutation.state, default: 0] += 1
    for token in Self.blockingTokens(of: mutation) {
      touching[token, default: SortedValues()].insert(place)
    }
    if mutation.isFrozen { frozen.insert(place) }
    if mutation.state == .inflight { inflight.insert(place) }
    if mutation.state == .queued {
      waitingUpstreams[mutation.upstream, default: 0] += 1
      expiries.insert(Expiry(time: mutation.expires, place: place))
    }
    if mutation.state == .queued || mutation.state == .inflight {
      if mutation.mode == .steady { steady.insert(place) }
      if mutation.mode == .force { forced.insert(place) }
    }
  }

  mutating func remove(_ id: MutationID) {
    guard let place = placesByID.removeValue(forKey: id),
      let mutation = items.removeValue(forKey: place)
    else { return }
    kilobytes -= Self.kilobytes(of: mutation)
    order.remove(place)
    Self.decrement(&counts, mutation.state)
    for token in Self.blockingTokens(of: mutation) {
      touching[token]?.remove(place)
      if touching[token]?.isEmpty == true { touching[token] = nil }
    }
    if mutation.state == .queued {
      Self.decrement(&waitingUpstreams, mutation.upstream)
      expiries.remove(Expiry(time: mutation.expires, place: place))
    }
    inflight.remove(place)
    frozen.remove(place)
    steady.remove(place)
    forced.remove(place)
  }

  /// An expired one keeps back only those that need what it was to create.
  private static func blockingTokens(of mutation: Mutation) -> [Footprint.Token] {
    mutation.state == .expired
      ? mutation.footprint.creates.map { .temporary($0.id) } : mutation.footprint.tokens
  }

  private static func decrement<Key>(_ counts: inout [Key: Int], _ key: Key) {
    guard let count = counts[key] else { return }
    counts[key] = count > 1 ? count - 1 : nil
  }
}
