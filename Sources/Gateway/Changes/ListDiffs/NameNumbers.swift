/// Numbers for names: the same number for the same bytes, counted from 0.
///
/// An open hash table of its own: a dictionary compares texts as Unicode has them equal, which keys
/// are not, and takes most of the time of a diff of a hundred thousand rows.
struct NameNumbers {
  /// The number of the name in each slot; -1 for a free one.
  private var slots: [Int32]
  private var names: [String] = []
  private var hashes: [UInt64] = []
  private let mask: Int

  /// - Parameter capacity: names at most.
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

  /// Nobody outside can know it, so nobody can choose names that meet in one slot.
  private static let seed: UInt64 = {
    var hasher = Hasher()
    hasher.combine(0)
    return UInt64(truncatingIfNeeded: hasher.finalize())
  }()

  /// Of the bytes, eight at a time; the same for one run of the process.
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

  /// Both halves of the product, so that each bit of the word reaches the low ones.
  private static func mixed(_ word: UInt64) -> UInt64 {
    let (high, low) = (word ^ 0xD6E8_FEB8_6659_FD93).multipliedFullWidth(by: 0xA076_1D64_78BD_642F)
    return high ^ low
  }
}
