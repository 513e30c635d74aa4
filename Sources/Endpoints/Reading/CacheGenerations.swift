/// What a shelf holds by the hashes of its requests' keys, bounded in number and in bytes.
///
/// Two generations, each of half the bounds: when the younger is full it becomes the older, and what
/// was not asked for since the last time goes. So requests that never come again, as those with the
/// tokens of an hour ago, do not stay until there are too many.
struct CacheGenerations<Entry: ResponseCacheEntry> {
  private let countMax: Int
  private let bytesMax: Int
  private var young: [Int: Entry] = [:]
  private var youngBytes = 0
  private var old: [Int: Entry] = [:]

  init(countMax: Int, bytesMax: Int) {
    self.countMax = countMax / 2
    self.bytesMax = bytesMax / 2
  }

  /// The entry whose key has a hash; whether the key is the request's is the caller's to compare.
  mutating func find(_ hash: Int) -> Entry? {
    if let entry = young[hash] { return entry }
    guard let entry = old.removeValue(forKey: hash) else { return nil }
    keep(entry)
    return entry
  }

  /// An entry that alone is more than the bounds is not kept.
  mutating func keep(_ entry: Entry) {
    let hash = entry.key.hash
    let size = entry.byteCount
    old[hash] = nil
    if let former = young.removeValue(forKey: hash) { youngBytes -= former.byteCount }
    guard size <= bytesMax else { return }
    if young.count >= countMax || youngBytes + size > bytesMax {
      old = young
      young = [:]
      youngBytes = 0
    }
    young[hash] = entry
    youngBytes += size
  }

  /// Removes this very entry; one that has taken its place meanwhile stays.
  mutating func remove(_ entry: Entry) {
    let hash = entry.key.hash
    if young[hash] === entry {
      young[hash] = nil
      youngBytes -= entry.byteCount
    }
    if old[hash] === entry { old[hash] = nil }
  }
}

protocol ResponseCacheEntry: AnyObject, Sendable {
  /// What its response depends on.
  var key: PlainRequestKey { get }
  /// What it keeps in memory, about.
  var byteCount: Int { get }
}
