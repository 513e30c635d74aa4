import Model

/// The mutations of a queue in the order of sending, indexed so that conflicts are found without
/// traversing thousands.
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
  /// The number of queued mutations of each upstream.
  private(set) var waitingUpstreams: [String: Int] = [:]
  private var expiries = SortedValues<Expiry>()

  // Places of queued or in-flight mutations.

  /// Steady mutations by upstream, each of which waits for the one before.
  private var steady: [String: SortedValues<Int64>] = [:]
  /// Steady mutations of all upstreams; a steady list of local writes waits for those before it.
  private(set) var allSteady = SortedValues<Int64>()
  /// Lists of local writes in any mode; every mutation that is not forced waits for those before it.
  private(set) var localWrites = SortedValues<Int64>()
  private(set) var forced = SortedValues<Int64>()
  private(set) var inflight = SortedValues<Int64>()
  /// All that may have reached upstream, including parked and expired ones.
  private(set) var frozen = SortedValues<Int64>()

  var all: [Mutation] { order.values.compactMap { items[$0] } }
  var places: [Int64] { order.values }
  var isEmpty: Bool { items.isEmpty }
  var count: Int { items.count }
  /// The approximate memory of the mutations, in kilobytes.
  private(set) var kilobytes = 0
  /// The earliest `expires` of queued mutations.
  var firstExpiry: Timestamp? { expiries.first?.time }

  func count(of state: MutationState) -> Int { counts[state] ?? 0 }

  subscript(id: MutationID) -> Mutation? { placesByID[id].flatMap { items[$0] } }
  subscript(place: Int64) -> Mutation? { items[place] }

  /// Returns the queued mutations whose `expires` has passed.
  func overdue(at now: Timestamp) -> [Mutation] {
    expiries.values.prefix { $0.time <= now }.compactMap { items[$0.place] }
  }

  func places(touching token: Footprint.Token) -> SortedValues<Int64> {
    touching[token] ?? SortedValues()
  }

  func steady(of upstream: String) -> SortedValues<Int64> {
    steady[upstream] ?? SortedValues()
  }

  func items(touching token: Footprint.Token) -> [Mutation] {
    places(touching: token).values.compactMap { items[$0] }
  }

  /// Estimates the memory of a mutation: about one kilobyte, and a few hundred bytes for each token of
  /// its footprint, which is kept here and in the index.
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
      if mutation.mode == .steady {
        steady[mutation.upstream, default: SortedValues()].insert(place)
        allSteady.insert(place)
      }
      if mutation.mode == .force { forced.insert(place) }
      if mutation.isLocalWrite { localWrites.insert(place) }
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
    steady[mutation.upstream]?.remove(place)
    if steady[mutation.upstream]?.isEmpty == true { steady[mutation.upstream] = nil }
    allSteady.remove(place)
    localWrites.remove(place)
    forced.remove(place)
  }

  /// Returns the tokens by which it blocks others; an expired mutation blocks only those that need the
  /// ids it was to create.
  private static func blockingTokens(of mutation: Mutation) -> [Footprint.Token] {
    mutation.state == .expired
      ? mutation.footprint.creates.map { .temporary($0.id) } : mutation.footprint.tokens
  }

  private static func decrement<Key>(_ counts: inout [Key: Int], _ key: Key) {
    guard let count = counts[key] else { return }
    counts[key] = count > 1 ? count - 1 : nil
  }
}

/// A sorted set of values.
///
/// A sorted array: insertions are nearly always at the end, removals nearly always at the start.
struct SortedValues<Value: Comparable & Sendable>: Sendable {
  private(set) var values: [Value] = []

  var first: Value? { values.first }
  var isEmpty: Bool { values.isEmpty }
  var count: Int { values.count }

  mutating func insert(_ value: Value) {
    let index = firstIndex(from: value)
    guard index == values.count || values[index] != value else { return }
    values.insert(value, at: index)
  }

  mutating func remove(_ value: Value) {
    let index = firstIndex(from: value)
    guard index < values.count, values[index] == value else { return }
    values.remove(at: index)
  }

  func before(_ value: Value) -> ArraySlice<Value> { values[..<firstIndex(from: value)] }

  func from(_ value: Value) -> ArraySlice<Value> { values[firstIndex(from: value)...] }

  private func firstIndex(from value: Value) -> Int {
    if let last = values.last, last < value { return values.count }
    var (low, high) = (0, values.count)
    while low < high {
      let middle = (low + high) / 2
      if values[middle] < value { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
