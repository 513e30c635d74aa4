/// What a shelf holds by the hashes of its requests, bounded in number and in bytes: past either
/// bound all of it goes, and what is asked for comes back.
struct ShelfEntries<Entry: ShelfEntry> {
  private let countMax: Int
  private let bytesMax: Int
  private var entries: [Int: Entry] = [:]
  private var bytes = 0

  init(countMax: Int, bytesMax: Int) {
    self.countMax = countMax
    self.bytesMax = bytesMax
  }

  subscript(hash: Int) -> Entry? { entries[hash] }

  mutating func keep(_ entry: Entry, at hash: Int) {
    if entries.count >= countMax || bytes + entry.byteCount > bytesMax {
      entries.removeAll(keepingCapacity: true)
      bytes = 0
    }
    if let old = entries.updateValue(entry, forKey: hash) { bytes -= old.byteCount }
    bytes += entry.byteCount
  }

  /// Removes this very entry; one that has taken its place meanwhile stays.
  mutating func remove(_ entry: Entry, at hash: Int) {
    guard entries[hash] === entry else { return }
    entries[hash] = nil
    bytes -= entry.byteCount
  }
}

protocol ShelfEntry: AnyObject, Sendable {
  /// What it keeps in memory, about.
  var byteCount: Int { get }
}
