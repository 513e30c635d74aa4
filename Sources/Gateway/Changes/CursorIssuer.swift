package import Model
import Synchronization

/// The cursor of the present head for each viewer, made once a commit and spliced into answers.
package final class CursorIssuer: Sendable {
  private struct State {
    var head: Revision
    var made: [Viewer: [UInt8]] = [:]
    /// That of the viewer who asks most, with no look-up.
    var anonymous: [UInt8]?
  }

  /// Texts kept for one head; past this they are made anew, since a head may be long-lived and
  /// its viewers many.
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

  /// A commit is visible and everything rendered that it touched has been dropped.
  package func publish(_ head: Revision) {
    state.withLock { state in
      guard head > state.head else { return }
      state.head = head
      state.made.removeAll(keepingCapacity: true)
      state.anonymous = nil
    }
  }

  /// As ``cursor(for:)`` for the anonymous viewer.
  package func anonymousCursor() -> [UInt8] {
    state.withLock { state in
      if let made = state.anonymous { return made }
      let text = make(state.head, .anonymous)
      state.anonymous = text
      return text
    }
  }

  /// The head's cursor for a viewer, as ASCII bytes.
  package func cursor(for viewer: Viewer) -> [UInt8] {
    state.withLock { state in
      if let made = state.made[viewer] { return made }
      let text = make(state.head, viewer)
      if state.made.count >= Self.viewersMax { state.made.removeAll(keepingCapacity: true) }
      state.made[viewer] = text
      return text
    }
  }

  /// The cursor of a head noted earlier: what was read after that moment holds at least its
  /// changes.
  package func cursor(for viewer: Viewer, at revision: Revision) -> [UInt8] {
    revision == head ? cursor(for: viewer) : make(revision, viewer)
  }

  private func make(_ revision: Revision, _ viewer: Viewer) -> [UInt8] {
    Array(
      codec.encode(
        Cursor(
          segment: segment, revision: revision, viewer: codec.digest(of: viewer),
          schemaVersion: schemaVersion)
      ).utf8)
  }
}
