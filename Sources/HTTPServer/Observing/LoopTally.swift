import HTTPWire

/// Counts of one loop since its last flush.
///
/// They are plain integers, so that a cached response pays for a few additions: no lock, no dictionary and
/// no allocation.
struct LoopTally {
  /// The upper bounds of the duration's buckets, in nanoseconds; longer durations are in one more bucket.
  static let bounds: [UInt64] = [
    250_000, 1_000_000, 2_500_000, 5_000_000, 10_000_000, 25_000_000, 50_000_000, 100_000_000,
    250_000_000, 500_000_000, 1_000_000_000, 2_500_000_000, 5_000_000_000, 10_000_000_000,
  ]
  private static let bucketCount = bounds.count + 1
  /// Integers of one series: its buckets, the sum of its durations, and the bytes of contents and responses.
  private static let seriesSize = bucketCount + 3
  private static let memoSize = 256

  /// The route, method and status that a request is counted under.
  struct Series: Hashable {
    private let word: UInt64

    var route: Int32 { Int32(truncatingIfNeeded: word >> 32) }
    /// Nil if the method could not be read.
    var method: RequestMethod? { RequestMethod(rawValue: UInt8(truncatingIfNeeded: word >> 16)) }
    var status: Int { Int(word & 0xFFFF) }

    init(route: Int32, method: RequestMethod?, status: Int) {
      word =
        UInt64(UInt32(bitPattern: route)) << 32 | UInt64(method?.rawValue ?? .max) << 16
        | UInt64(UInt16(truncatingIfNeeded: status))
    }

    /// A place among ``memoSize``.
    fileprivate var memoIndex: Int {
      Int(truncatingIfNeeded: (word &* 0x9E37_79B9_7F4A_7C15) >> 56)
    }
  }

  var connections = 0
  var bytesReceived = 0
  var bytesSent = 0
  /// Requests that the rate limit refused.
  var rateRefusals = 0
  private let operationCount: Int
  /// In the order in which they were first counted.
  private var series: [Series] = []
  private var places: [Series: Int] = [:]
  /// The integers of all series, one after the other.
  private var cells: [UInt64] = []
  /// The series found last at each ``Series/memoIndex``, so that a hit needs no look-up in a dictionary.
  private var memo: [(series: Series, place: Int)]
  /// The uses of the response cache, by operation and ``CacheUse``.
  private var cacheUses: [UInt64]

  init(operationCount: Int = 0) {
    self.operationCount = operationCount
    cacheUses = Array(repeating: 0, count: operationCount * CacheUse.allCases.count)
    let none = Series(route: -1, method: nil, status: 0)
    memo = Array(repeating: (none, -1), count: Self.memoSize)
  }

  /// Counts one response.
  ///
  /// - Parameters:
  ///   - nanoseconds: from the turn that read the request's head to the end of the response.
  ///   - received: bytes of the request's content.
  ///   - sent: bytes of the response, head included.
  @inline(__always)
  mutating func count(
    _ facts: RequestFacts, method: RequestMethod?, status: Int, nanoseconds: UInt64,
    received: Int = 0, sent: Int = 0
  ) {
    let place = place(of: Series(route: facts.route, method: method, status: status))
    // The first bucket holds nearly all that comes from the cache.
    let bucket =
      nanoseconds <= 250_000
      ? 0 : Self.bounds.firstIndex { nanoseconds <= $0 } ?? Self.bounds.count
    cells[place &+ bucket] &+= 1
    cells[place &+ Self.bucketCount] &+= nanoseconds
    cells[place &+ Self.bucketCount &+ 1] &+= UInt64(truncatingIfNeeded: received)
    cells[place &+ Self.bucketCount &+ 2] &+= UInt64(truncatingIfNeeded: sent)
    guard status < 400, let use = facts.cacheUse, facts.operation >= 0,
      Int(facts.operation) < operationCount
    else { return }
    cacheUses[Int(facts.operation) &* CacheUse.allCases.count &+ Int(use.rawValue)] &+= 1
  }

  /// Returns the index of a series' first integer.
  private mutating func place(of wanted: Series) -> Int {
    let known = memo[wanted.memoIndex]
    if known.series == wanted, known.place >= 0 { return known.place }
    var place = places[wanted]
    if place == nil {
      place = cells.count
      places[wanted] = cells.count
      series.append(wanted)
      cells.append(contentsOf: repeatElement(0, count: Self.seriesSize))
    }
    memo[wanted.memoIndex] = (wanted, place ?? 0)
    return place ?? 0
  }

  /// Passes every series that was counted since the last flush.
  func forEachSeries(_ body: (Series, RequestCounts) -> Void) {
    for (index, each) in series.enumerated() {
      let start = index * Self.seriesSize
      let buckets = cells[start..<start + Self.bucketCount]
      guard buckets.contains(where: { $0 > 0 }) else { continue }
      body(
        each,
        RequestCounts(
          durations: DurationCounts(
            buckets: Array(buckets), sumNanoseconds: cells[start + Self.bucketCount]),
          bytesReceived: cells[start + Self.bucketCount + 1],
          bytesSent: cells[start + Self.bucketCount + 2]))
    }
  }

  /// Passes every use of the response cache that was counted since the last flush.
  func forEachCacheUse(_ body: (_ operation: Int32, CacheUse, _ count: UInt64) -> Void) {
    for (index, count) in cacheUses.enumerated() where count > 0 {
      let (operation, use) = index.quotientAndRemainder(dividingBy: CacheUse.allCases.count)
      body(Int32(operation), CacheUse.allCases[use], count)
    }
  }

  /// Sets every count to zero, and keeps the storage.
  mutating func clear() {
    connections = 0
    bytesReceived = 0
    bytesSent = 0
    rateRefusals = 0
    for index in cells.indices { cells[index] = 0 }
    for index in cacheUses.indices { cacheUses[index] = 0 }
  }
}

/// The requests of one route, method and status.
package struct RequestCounts: Equatable, Sendable {
  package private(set) var durations: DurationCounts
  /// Of contents.
  package private(set) var bytesReceived: UInt64
  /// Of responses, heads included.
  package private(set) var bytesSent: UInt64

  package var count: UInt64 { durations.count }

  mutating func add(_ other: RequestCounts) {
    durations.add(other.durations)
    bytesReceived &+= other.bytesReceived
    bytesSent &+= other.bytesSent
  }

  init(durations: DurationCounts, bytesReceived: UInt64, bytesSent: UInt64) {
    self.durations = durations
    self.bytesReceived = bytesReceived
    self.bytesSent = bytesSent
  }
}

/// A distribution of durations.
package struct DurationCounts: Equatable, Sendable {
  /// The upper bounds of the buckets, in seconds.
  package static let boundsSeconds = LoopTally.bounds.map { Double($0) / 1e9 }

  /// By bucket, not cumulative: one more than there are bounds.
  package private(set) var buckets: [UInt64]
  package private(set) var sumNanoseconds: UInt64

  package var count: UInt64 { buckets.reduce(0, +) }

  mutating func add(_ other: DurationCounts) {
    for index in buckets.indices { buckets[index] += other.buckets[index] }
    sumNanoseconds += other.sumNanoseconds
  }

  init(buckets: [UInt64], sumNanoseconds: UInt64) {
    self.buckets = buckets
    self.sumNanoseconds = sumNanoseconds
  }
}
