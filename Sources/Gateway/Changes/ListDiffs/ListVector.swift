import Model
import Synchronization

/// A list as a client has it: the ids in order, with their revisions.
package struct ListVector: Sendable {
  package struct Row: Hashable, Sendable {
    /// `Type/id`.
    package let id: String
    /// The value of `_rev`.
    package let revision: String

    package init(id: String, revision: String) {
      self.id = id
      self.revision = revision
    }
  }

  package let rows: [Row]

  package init(rows: [Row]) {
    self.rows = rows
  }

  init(_ documents: [EntityDocument]) {
    self.init(rows: documents.map { Row(id: $0.key.description, revision: $0.revision) })
  }

  /// The entity tag: the same for the same rows in the same order.
  var tag: String {
    var text: [UInt8] = []
    for row in rows {
      text += "\(row.id.utf8.count):".utf8
      text += row.id.utf8
      text += row.revision.utf8
      text.append(UInt8(ascii: "\n"))
    }
    return EntityDigest.tag(of: text)
  }

  /// The approximate memory size.
  var byteCount: Int { rows.reduce(64) { $0 + 64 + $1.id.utf8.count } }

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

/// The lists that clients can have, by their tags, under a byte budget: the oldest are evicted first.
///
/// A list is found only by viewers who received it: deletes and moves reveal the old list, so
/// another caller's tag must be worth no more than a forged one.
package final class ListMemory: Sendable {
  /// The default budget: about two hundred lists of five hundred rows.
  package static let defaultBytesMax = 8 << 20

  private struct Entry {
    let vector: ListVector
    var viewers: Set<Viewer>
  }

  /// The approximate memory size of one more viewer of a list.
  private static let bytesAViewer = 128

  private struct State {
    var entries: [String: Entry] = [:]
    var order: [String] = []
    var byteCount = 0
  }

  private let byteLimit: Int
  private let state = Mutex(State())

  package init(byteLimit: Int = ListMemory.defaultBytesMax) {
    self.byteLimit = byteLimit
  }

  /// Returns the list with a tag; nil if it is unknown to the viewer.
  ///
  /// - Parameter viewer: a view that the list must have been rendered for.
  func vector(tagged tag: String, seenBy viewer: Viewer) -> ListVector? {
    state.withLock { state in
      guard let entry = state.entries[tag], entry.viewers.contains(viewer) else { return nil }
      return entry.vector
    }
  }

  /// Remembers a list under its tag for one viewer.
  func keep(_ vector: ListVector, tag: String, seenBy viewer: Viewer) {
    guard vector.byteCount <= byteLimit / 4 else { return }
    state.withLock { state in
      if state.entries[tag] == nil {
        state.entries[tag] = Entry(vector: vector, viewers: [])
        state.order.append(tag)
        state.byteCount += vector.byteCount
      }
      if state.entries[tag]?.viewers.insert(viewer).inserted == true {
        state.byteCount += Self.bytesAViewer
      }
      while state.byteCount > byteLimit, !state.order.isEmpty {
        guard let oldest = state.entries.removeValue(forKey: state.order.removeFirst()) else {
          continue
        }
        state.byteCount -= oldest.vector.byteCount + oldest.viewers.count * Self.bytesAViewer
      }
    }
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
