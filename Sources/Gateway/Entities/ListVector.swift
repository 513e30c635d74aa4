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
}

/// The lists that clients can have, by their tags, under a byte budget: the oldest are evicted first.
///
/// A list is found only by viewers who received it: deletes and moves reveal the old list, so
/// another caller's tag must be worth no more than a forged one.
package final class ListMemory: Sendable {
  /// The default budget: about two hundred lists of five hundred rows.
  static let defaultBytesMax = 8 << 20

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
