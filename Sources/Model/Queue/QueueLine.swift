/// The items of a queue in the order of sending, with the index that answers what comes before what
/// without a walk over thousands.
struct QueueLine: Sendable {
  private var items: [Int64: Mutation] = [:]
  private var places: [MutationID: Int64] = [:]
  private var order = SortedPlaces()
  private var touching: [Footprint.Token: SortedPlaces] = [:]
  private var counts: [MutationState: Int] = [:]
  private var waitingUpstreams: [String: Int] = [:]
  /// Steady ones that the total order waits for.
  private(set) var steady = SortedPlaces()
  private(set) var forced = SortedPlaces()
  private(set) var inflight = SortedPlaces()
  private(set) var expired = SortedPlaces()
  /// No item's `expires` is earlier; the true earliest may be later.
  private(set) var expiryBound: Timestamp?

  var isEmpty: Bool { items.isEmpty }
  var count: Int { items.count }
  var all: [Mutation] { order.values.compactMap { items[$0] } }
  /// How many upstreams have an item that waits.
  var upstreamCount: Int { waitingUpstreams.count }

  func count(of state: MutationState) -> Int { counts[state] ?? 0 }

  subscript(id: MutationID) -> Mutation? { places[id].flatMap { items[$0] } }
  subscript(place: Int64) -> Mutation? { items[place] }

  var inOrder: some Sequence<Mutation> { order.values.lazy.compactMap { items[$0] } }

  /// The places of those that touch the token.
  func places(touching token: Footprint.Token) -> [Int64] { touching[token]?.values ?? [] }

  mutating func insert(_ mutation: Mutation) {
    let place = mutation.place
    items[place] = mutation
    places[mutation.id] = place
    order.insert(place)
    counts[mutation.state, default: 0] += 1
    for token in blockingTokens(of: mutation) { touching[token, default: .init()].insert(place) }
    switch mutation.state {
    case .queued: waitingUpstreams[mutation.upstream, default: 0] += 1
    case .inflight: inflight.insert(place)
    case .expired: expired.insert(place)
    default: break
    }
    if mutation.state == .queued || mutation.state == .inflight {
      if mutation.mode == .steady { steady.insert(place) }
      if mutation.mode == .force { forced.insert(place) }
      expiryBound = min(expiryBound ?? mutation.expires, mutation.expires)
    }
  }

  mutating func remove(_ id: MutationID) {
    guard let place = places.removeValue(forKey: id),
      let mutation = items.removeValue(forKey: place)
    else { return }
    order.remove(place)
    decrement(&counts, mutation.state)
    for token in blockingTokens(of: mutation) {
      touching[token]?.remove(place)
      if touching[token]?.values.isEmpty == true { touching[token] = nil }
    }
    if mutation.state == .queued { decrement(&waitingUpstreams, mutation.upstream) }
    inflight.remove(place)
    expired.remove(place)
    steady.remove(place)
    forced.remove(place)
  }

  /// Finds the bound again after the earliest is gone.
  mutating func tightenExpiryBound() {
    expiryBound = items.values.lazy
      .filter { $0.state == .queued || $0.state == .inflight }
      .map(\.expires).min()
  }

  /// An expired one keeps back only those that need what it was to create.
  private func blockingTokens(of mutation: Mutation) -> [Footprint.Token] {
    mutation.state == .expired
      ? mutation.footprint.creates.map { .temporary($0.id) } : mutation.footprint.tokens
  }

  private func decrement<Key>(_ counts: inout [Key: Int], _ key: Key) {
    guard let count = counts[key] else { return }
    counts[key] = count > 1 ? count - 1 : nil
  }
}
