/// What a shelf holds by the hashes of its requests' keys, bounded in number and in bytes: past
/// either bound all of it goes, and what is asked for comes back.
struct ShelfEntries<Entry: ShelfEntry> {
  private let countMax: Int
  private let bytesMax: Int
  private var entries: [Int: Entry] = [:]
  private var bytes = 0

  init(countMax: Int, bytesMax: Int) {
    self.countMax = countMax
    self.bytesMax = bytesMax
  }

  /// The entry whose key has a hash; whether the key is the request's is the caller's to compare.
  subscript(hash: Int) -> Entry? { entries[hash] }

  mutating func keep(_ entry: Entry) {
    if entries.count >= countMax || bytes + entry.byteCount > bytesMax {
      entries.removeAll(keepingCapacity: true)
      bytes = 0
    }
    if let old = entries.updateValue(entry, forKey: entry.key.hash) { bytes -= old.byteCount }
    bytes += entry.byteCount
  }

  /// Removes this very entry; one that has taken its place meanwhile stays.
  mutating func remove(_ entry: Entry) {
    guard entries[entry.key.hash] === entry else { return }
    entries[entry.key.hash] = nil
    bytes -= entry.byteCount
  }
}

protocol ShelfEntry: AnyObject, Sendable {
  /// What its response depends on.
  var key: PlainRequestKey { get }
  /// What it keeps in memory, about.
  var byteCount: Int { get }
}
