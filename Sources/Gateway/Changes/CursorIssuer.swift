package import Model
import Synchronization

/// How much of what a cursor has seen a node of a cluster has.
package enum CursorCoverage: Hashable, Sendable {
  /// All of it. Also for text that is no cursor of this service, which other code refuses.
  case whole
  /// Not all of it yet: the cursor is of a later revision.
  case behind
  /// Not known: the cursor is of a segment that this node does not know, or lies after the end of an earlier
  /// one. It is of a newer leader, or of commits that were lost.
  case unknown
}

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
  private let earlier: Set<UInt64>
  private let schemaVersion: UInt32
  private let state: Mutex<State>
  /// The revision of a commit that readers can see before it is the head, zero without one; nil outside a cluster,
  /// where it does not matter.
  private let underWay: (@Sendable () -> Revision)?

  /// - Parameters:
  ///   - segment: the nonce of the last segment.
  ///   - earlier: those of the segments before it.
  package init(
    codec: CursorCodec, segment: UInt64, earlier: some Sequence<UInt64> = [], schemaVersion: UInt32,
    head: Revision, underWay: (@Sendable () -> Revision)? = nil
  ) {
    self.underWay = underWay
    self.codec = codec
    self.segment = segment
    self.earlier = Set(earlier)
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

  /// Returns ``settledCursor(for:)`` of the anonymous viewer.
  package func settledAnonymousCursor() -> [UInt8]? {
    state.withLock { state in
      if isAhead(state.head) { return nil }
      if let made = state.anonymous { return made }
      let text = make(state.head, .anonymous)
      state.anonymous = text
      return text
    }
  }

  /// Returns the head's cursor for a viewer, as ASCII bytes; nil while a commit that becomes visible in a cluster
  /// is not the head yet. A cached response that was found before covers no more than such a cursor.
  package func settledCursor(for viewer: Viewer) -> [UInt8]? {
    state.withLock { state in isAhead(state.head) ? nil : made(for: viewer, in: &state) }
  }

  /// Returns the head's cursor for a viewer, as ASCII bytes. Call it after what it is issued with was read.
  package func cursor(for viewer: Viewer) -> [UInt8] {
    cursor(for: viewer, at: nil)
  }

  /// Returns the cursor of a head noted earlier: data read after that moment includes at least its
  /// changes. Call it after the read has ended, since the cursor also covers what became visible by now.
  package func cursor(for viewer: Viewer, at revision: Revision) -> [UInt8] {
    cursor(for: viewer, at: .some(revision))
  }

  /// - Parameter revision: nil for the head.
  private func cursor(for viewer: Viewer, at revision: Revision?) -> [UInt8] {
    state.withLock { state in
      let revision = revision ?? state.head
      let seen = underWay.map { max($0(), state.head) } ?? revision
      if seen > revision { return make(revision, viewer, seen: seen) }
      return revision == state.head
        ? made(for: viewer, in: &state) : make(revision, viewer)
    }
  }

  /// Whether readers can see a commit after this head.
  private func isAhead(_ head: Revision) -> Bool {
    guard let underWay else { return false }
    return underWay() > head
  }

  private func made(for viewer: Viewer, in state: inout State) -> [UInt8] {
    if let made = state.made[viewer] { return made }
    let text = make(state.head, viewer)
    if state.made.count >= Self.viewersMax { state.made.removeAll(keepingCapacity: true) }
    state.made[viewer] = text
    return text
  }

  /// How much of what a cursor has seen this node has. A revision alone does not tell: the next leader counts on
  /// where the log ends, which a node that has not heard of it can take for its own revisions.
  package func coverage(of text: String) -> CursorCoverage {
    guard let cursor = codec.decode(text) else { return .whole }
    let isCurrent = cursor.segment == segment
    // Before its first segment, a store has no nonce.
    guard isCurrent || cursor.segment == 0 || earlier.contains(cursor.segment) else {
      return .unknown
    }
    if max(cursor.revision, cursor.seen ?? cursor.revision) <= head { return .whole }
    return isCurrent ? .behind : .unknown
  }

  /// Returns a cursor that also covers a submission in the inbox of a cluster, so that every node shows it to the
  /// reader who has seen it here. Text that is no cursor stays as it is.
  package func cursor(_ text: String, covering entry: Int64) -> String {
    guard let cursor = codec.decode(text), (cursor.entry ?? 0) < entry else { return text }
    return codec.encode(cursor.covering(entry))
  }

  /// Returns the head's cursor for a viewer who has made a submission that is in the inbox of a cluster.
  func cursor(for viewer: Viewer, covering entry: Int64) -> [UInt8] {
    make(head, viewer, entry: entry)
  }

  /// Returns the submission that a cursor covers besides its revision; nil for none, and for text that is no
  /// cursor.
  func entry(coveredBy text: String) -> Int64? { codec.decode(text)?.entry }

  private func make(
    _ revision: Revision, _ viewer: Viewer, entry: Int64? = nil, seen: Revision? = nil
  ) -> [UInt8] {
    Array(
      codec.encode(
        Cursor(
          segment: segment, revision: revision, viewer: codec.digest(of: viewer),
          schemaVersion: schemaVersion, entry: entry, seen: seen)
      ).utf8)
  }
}
