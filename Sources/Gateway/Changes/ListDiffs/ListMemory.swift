import Model
import Synchronization

/// The lists that clients may have, by their tags, under a byte budget: the oldest go first.
///
/// A list is found only by those to whom it was shown: what a diff takes out, keeps and moves tells
/// of the old list, so another caller's tag is worth no more than one made up.
package final class ListMemory: Sendable {
  /// Some two hundred lists of five hundred rows.
  package static let defaultBytesMax = 8 << 20

  private struct Entry {
    let vector: ListVector
    var viewers: Set<Viewer>
  }

  /// What one more viewer of a list takes, roughly.
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

  /// - Parameter viewer: whose sight the list must have been of.
  func vector(tagged tag: String, seenBy viewer: Viewer) -> ListVector? {
    state.withLock { state in
      guard let entry = state.entries[tag], entry.viewers.contains(viewer) else { return nil }
      return entry.vector
    }
  }

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
