package import Model
import Synchronization

/// Issues cursors of the current head for each viewer, created once per commit and spliced into
/// responses.
package final class CursorIssuer: Sendable {
  private struct State {
    var head: Revision
    var made: [Viewer: [UInt8]] = [:]
    /// The cursor of the anonymous viewer, the most frequent one, without a look-up.
    var anonymous: [UInt8]?
  }

  /// The maximum number of cursors kept for one head, which can last long and have many viewers;
  /// beyond it they are discarded.
  private static let viewersMax = 10_000

  private let codec: CursorCodec
  private let segment: UInt64
  private let schemaVersion: UInt32
  private let state: Mutex<State>

  package init(codec: CursorCodec, segment: UInt64, schemaVersion: UInt32, head: Revision) {
    self.codec = codec
    self.segment = segment
    self.schemaVersion = schemaVersion
    state = Mutex(State(head: head))
  }

  package var head: Revision { state.withLock { $0.head } }

  /// Advances the head. Must be called once the commit is visible and every rendered response that it
  /// touched has been dropped.
  package func publish(_ head: Revision) {
    state.withLock { state in
      guard head > state.head else { return }
      state.head = head
      state.made.removeAll(keepingCapacity: true)
      state.anonymous = nil
    }
  }

  /// Returns ``cursor(for:)`` of the anonymous viewer.
  package func anonymousCursor() -> [UInt8] {
    state.withLock { state in
      if let made = state.anonymous { return made }
      let text = make(state.head, .anonymous)
      state.anonymous = text
      return text
    }
  }

  /// Returns the head's cursor for a viewer, as ASCII bytes.
  package func cursor(for viewer: Viewer) -> [UInt8] {
    state.withLock { state in
      if let made = state.made[viewer] { return made }
      let text = make(state.head, viewer)
      if state.made.count >= Self.viewersMax { state.made.removeAll(keepingCapacity: true) }
      state.made[viewer] = text
      return text
    }
  }

  /// Returns the cursor of a head noted earlier: data read after that moment includes at least its
  /// changes.
  package func cursor(for viewer: Viewer, at revision: Revision) -> [UInt8] {
    revision == head ? cursor(for: viewer) : make(revision, viewer)
  }

  /// Whether this node has everything that a cursor has seen. True for text that is no cursor of this
  /// service, which other code refuses.
  package func covers(_ text: String) -> Bool {
    codec.decode(text).map { $0.revision <= head } ?? true
  }

  /// Returns the head's cursor for a viewer who has made a submission that is in the inbox of a cluster.
  func cursor(for viewer: Viewer, covering entry: Int64) -> [UInt8] {
    make(head, viewer, entry: entry)
  }

  /// Returns the submission that a cursor covers besides its revision; nil for none, and for text that is no
  /// cursor.
  func entry(coveredBy text: String) -> Int64? { codec.decode(text)?.entry }

  private func make(_ revision: Revision, _ viewer: Viewer, entry: Int64? = nil) -> [UInt8] {
    Array(
      codec.encode(
        Cursor(
          segment: segment, revision: revision, viewer: codec.digest(of: viewer),
          schemaVersion: schemaVersion, entry: entry)
      ).utf8)
  }
}
