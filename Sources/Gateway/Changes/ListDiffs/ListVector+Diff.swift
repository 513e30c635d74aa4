extension ListVector {
  /// Returns the diff from another vector to this one. Names are mapped to numbers that both share.
  package func diff(from old: ListVector) -> ListDiff {
    var numbers = NameNumbers(capacity: rows.count + old.rows.count)
    func elements(_ rows: [Row]) -> [ListElement] {
      rows.map { row in
        // A revision is a digest already, so a shorter digest of it still distinguishes two.
        ListElement(id: numbers.number(of: row.id), version: NameNumbers.hash(row.revision))
      }
    }
    return ListDiff(from: elements(old.rows), to: elements(rows))
  }
}

/// A mapping from names to numbers: the same number for the same bytes, counted from 0.
///
/// It is a custom open hash table: a dictionary compares strings by Unicode equivalence, which is
/// wrong for keys, and takes most of the time of a diff of a hundred thousand rows.
struct NameNumbers {
  /// The number of the name in each slot; -1 for a free slot.
  private var slots: [Int32]
  private var names: [String] = []
  private var hashes: [UInt64] = []
  private let mask: Int

  /// - Parameter capacity: the maximum number of names.
  init(capacity: Int) {
    var count = 16
    while count < capacity * 2 { count *= 2 }
    slots = [Int32](repeating: -1, count: count)
    mask = count - 1
    names.reserveCapacity(capacity)
    hashes.reserveCapacity(capacity)
  }

  mutating func number(of name: String) -> UInt64 {
    let hash = Self.hash(name)
    var slot = Int(truncatingIfNeeded: hash) & mask
    while slots[slot] >= 0 {
      let known = Int(slots[slot])
      if hashes[known] == hash, names[known].utf8.elementsEqual(name.utf8) { return UInt64(known) }
      slot = (slot + 1) & mask
    }
    slots[slot] = Int32(names.count)
    names.append(name)
    hashes.append(hash)
    return UInt64(names.count - 1)
  }

  /// A random seed: clients cannot know it, so they cannot choose names that collide.
  private static let seed: UInt64 = {
    var hasher = Hasher()
    hasher.combine(0)
    return UInt64(truncatingIfNeeded: hasher.finalize())
  }()

  /// Returns a hash of the bytes, eight at a time; it is stable for one run of the process.
  static func hash(_ text: String) -> UInt64 {
    var text = text
    return text.withUTF8 { bytes in
      let bytes = UnsafeRawBufferPointer(bytes)
      var hash = mixed(seed ^ UInt64(bytes.count))
      var place = 0
      while place + 8 <= bytes.count {
        hash = mixed(hash ^ bytes.loadUnaligned(fromByteOffset: place, as: UInt64.self))
        place += 8
      }
      var rest: UInt64 = 0
      for byte in bytes[place...] { rest = rest << 8 | UInt64(byte) }
      return mixed(hash ^ rest)
    }
  }

  /// Combines both halves of the product, so that each bit of the word affects the low bits.
  private static func mixed(_ word: UInt64) -> UInt64 {
    let (high, low) = (word ^ 0xD6E8_FEB8_6659_FD93).multipliedFullWidth(by: 0xA076_1D64_78BD_642F)
    return high ^ low
  }
}
