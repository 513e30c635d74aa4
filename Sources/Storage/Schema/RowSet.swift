import Synchronization

/// A row of an entity table, or of `result`.
struct RowPlace: Hashable {
  /// Stands for the table of results among the numbers of entity types, which begin at 1.
  static let resultType: Int64 = 0

  let type: Int64
  let row: Int64
}

/// A set of rows, one bit each, 64 to a word; only words with a bit set take memory.
///
/// A million neighbouring rows take half a megabyte; rows far apart take about thirty bytes each.
struct RowSet {
  struct Word: Hashable {
    let type: Int64
    let index: Int64

    init(_ place: RowPlace) {
      type = place.type
      index = place.row >> 6
    }

    func place(ofBit bit: Int) -> RowPlace {
      RowPlace(type: type, row: index << 6 | Int64(bit))
    }
  }

  private var words: [Word: UInt64] = [:]

  /// The memory of the set, in words.
  var wordCount: Int { words.count }

  func contains(_ place: RowPlace) -> Bool {
    (words[Word(place)] ?? 0) & Self.bit(of: place) != 0
  }

  /// - Returns: whether the row was inserted; false if it was in the set.
  @discardableResult
  mutating func insert(_ place: RowPlace) -> Bool {
    let bit = Self.bit(of: place)
    let word = words[Word(place), default: 0]
    guard word & bit == 0 else { return false }
    words[Word(place)] = word | bit
    return true
  }

  /// Inserts many rows; cheaper than one by one if neighbours follow each other.
  mutating func insert(type: Int64, rows: [Int64]) {
    var word: Word?
    var bits: UInt64 = 0
    for row in rows {
      let place = RowPlace(type: type, row: row)
      let next = Word(place)
      if let word, word != next {
        words[word, default: 0] |= bits
        bits = 0
      }
      word = next
      bits |= Self.bit(of: place)
    }
    if let word { words[word, default: 0] |= bits }
  }

  /// - Returns: whether the row was in the set.
  @discardableResult
  mutating func remove(_ place: RowPlace) -> Bool {
    let bit = Self.bit(of: place)
    guard let word = words[Word(place)], word & bit != 0 else { return false }
    words[Word(place)] = word == bit ? nil : word & ~bit
    return true
  }

  private static func bit(of place: RowPlace) -> UInt64 { 1 << UInt64(place.row & 63) }
}

/// The rows that were read, or confirmed unchanged by upstream, since eviction last checked them: one bit a
/// row, so that reads never write.
///
/// Kept in memory only. Losing it makes rows look as old as their last write.
final class TouchLedger: Sendable {
  /// About 16 MiB. Beyond this the ledger is cleared.
  private static let wordsMax = 1 << 18

  private let touched = Mutex(RowSet())

  func note(type: Int64, rows: [Int64]) {
    guard !rows.isEmpty else { return }
    touched.withLock { touched in
      if touched.wordCount > Self.wordsMax { touched = RowSet() }
      touched.insert(type: type, rows: rows)
    }
  }

  func isTouched(_ place: RowPlace) -> Bool {
    touched.withLock { $0.contains(place) }
  }

  /// Clears the touch of a row.
  ///
  /// - Returns: whether the row was touched.
  func take(_ place: RowPlace) -> Bool {
    touched.withLock { $0.remove(place) }
  }
}
