/// Values with individual expiry times, in a bounded amount of memory.
///
/// Expired values are dropped when the bytes have doubled, so that memory follows the live ones.
/// A clock set back expires a value too: none lasts longer than intended.
package struct ExpiringValues<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  private struct Entry {
    let value: Value
    let noted: Timestamp
    let until: Timestamp
    let bytes: Int

    func holds(at now: Timestamp) -> Bool { noted <= now && now < until }
  }

  /// The cost of an entry besides its value: the key, the times, the table's own space.
  private static var entryBytes: Int { 160 }
  /// The size below which no sweep for expired values takes place.
  private static var sweptBytesMin: Int { 64 << 10 }

  private let bytesMax: Int
  private var entries: [Key: Entry] = [:]
  private var bytes = 0
  private var sweepAt = Self.sweptBytesMin

  package init(bytesMax: Int) {
    self.bytesMax = bytesMax
  }

  package var count: Int { entries.count }

  package subscript(key: Key, at now: Timestamp) -> Value? {
    guard let entry = entries[key], entry.holds(at: now) else { return nil }
    return entry.value
  }

  /// Stores a value. If there is no room for it even after expired values are dropped, all others are
  /// dropped: they are only a cache.
  ///
  /// - Parameter bytes: memory that the value holds besides its own size.
  package mutating func insert(
    _ value: Value, for key: Key, until: Timestamp, bytes size: Int, at now: Timestamp
  ) {
    let size = size + Self.entryBytes
    remove(key)
    if bytes + size > min(sweepAt, bytesMax) { sweep(at: now) }
    if bytes + size > bytesMax { removeAll() }
    guard size <= bytesMax else { return }
    entries[key] = Entry(value: value, noted: now, until: until, bytes: size)
    bytes += size
  }

  package mutating func remove(_ key: Key) {
    if let old = entries.removeValue(forKey: key) { bytes -= old.bytes }
  }

  package mutating func removeAll() {
    entries = [:]
    bytes = 0
    sweepAt = Self.sweptBytesMin
  }

  private mutating func sweep(at now: Timestamp) {
    entries = entries.filter { $0.value.holds(at: now) }
    bytes = entries.values.reduce(0) { $0 + $1.bytes }
    sweepAt = max(Self.sweptBytesMin, 2 * bytes)
  }
}
