import Transport

/// Counts of requests by caller, in a fixed amount of memory.
///
/// It is a set-associative cache, not a dictionary: a flood of callers takes no more memory or time
/// than a few. A new caller replaces one whose window has ended, otherwise the one with the fewest
/// requests, so that a flood evicts itself and not the callers that are being limited.
struct RateTable {
  /// Places that a caller can have; all are checked.
  static let ways = 8

  private struct Place {
    var caller: UInt64 = 0
    /// Nanoseconds on the loops' clock.
    var windowStart: UInt64 = 0
    /// 0 for an empty place.
    var count: UInt32 = 0
  }

  /// A caller's window.
  struct Window: Equatable {
    /// Requests in it, this one included.
    let count: Int
    let start: LoopInstant
  }

  private var places: [Place]
  private let sets: Int
  private let windowNanoseconds: UInt64

  /// - Parameter sets: there are ``ways`` places in each, of 24 bytes.
  init(sets: Int, window: Duration) {
    self.sets = max(1, sets)
    places = Array(repeating: Place(), count: self.sets * Self.ways)
    let (seconds, attoseconds) = window.components
    windowNanoseconds = UInt64(seconds) * 1_000_000_000 + UInt64(attoseconds / 1_000_000_000)
  }

  /// Restarts a caller's window if it has not ended.
  ///
  /// - Returns: whether there was such a window.
  mutating func renew(_ caller: UInt64, now: LoopInstant) -> Bool {
    for index in indices(of: caller)
    where places[index].caller == caller && isLive(places[index], now) {
      places[index].windowStart = now.nanoseconds
      return true
    }
    return false
  }

  /// Counts a request, in a new window if the caller's last one has ended.
  mutating func count(_ caller: UInt64, now: LoopInstant) -> Window {
    let index = place(for: caller, now: now)
    if places[index].caller != caller || !isLive(places[index], now) {
      places[index] = Place(caller: caller, windowStart: now.nanoseconds, count: 0)
    }
    if places[index].count < .max { places[index].count += 1 }
    return Window(
      count: Int(places[index].count), start: LoopInstant(nanoseconds: places[index].windowStart))
  }

  private func place(for caller: UInt64, now: LoopInstant) -> Int {
    let indices = indices(of: caller)
    var best = indices.lowerBound
    for index in indices {
      let place = places[index]
      if place.count > 0, place.caller == caller { return index }
      if weight(place, now) < weight(places[best], now) { best = index }
    }
    return best
  }

  private func weight(_ place: Place, _ now: LoopInstant) -> UInt32 {
    isLive(place, now) ? place.count : 0
  }

  private func isLive(_ place: Place, _ now: LoopInstant) -> Bool {
    place.count > 0 && now.nanoseconds &- place.windowStart < windowNanoseconds
  }

  private func indices(of caller: UInt64) -> Range<Int> {
    let first = Int(caller % UInt64(sets)) * Self.ways
    return first..<first + Self.ways
  }
}
