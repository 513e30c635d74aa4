import Model
import Synchronization

/// One event of a list's stream, shared by the streams that send it at the same time.
final class ListEvent: Sendable {
  let bytes: [UInt8]

  init(_ bytes: [UInt8]) { self.bytes = bytes }
}

/// One state of a followed list, shared by all its streams, with the events that lead to it.
///
/// It keeps its documents only as long as they are needed or there is room for them, see ``ListLedger``.
/// The whole list as an event is kept by the streams that send it, and rendered again for later ones.
final class ListVersion: Sendable {
  /// The list that a client has.
  struct Base: Sendable {
    let tag: String
    let vector: ListVector
  }

  /// The maximum bytes of events kept for streams that come from the same state.
  private static let eventBytesMax = 32 << 10

  private struct State {
    /// Nil once the documents were dropped.
    var list: EntityList?
    weak var full: ListEvent?
    /// By the tag of the list that they begin from.
    var diffs: [String: ListEvent] = [:]
    var diffByteCount = 0
  }

  let tag: String
  let vector: ListVector
  /// The approximate length of the whole list as an event.
  let fullByteCount: Int
  private let cursor: String
  private let state: Mutex<State>

  /// - Parameter cursor: of a head noted before the list was read.
  init(_ followed: FollowedList, cursor: String) {
    tag = followed.tag
    vector = followed.vector
    fullByteCount = followed.list.documents.reduce(256) { $0 + $1.body.count + 1 }
    self.cursor = cursor
    state = Mutex(State(list: followed.list))
  }

  var base: Base { Base(tag: tag, vector: vector) }

  var hasDocuments: Bool { state.withLock { $0.list != nil } }

  /// Forgets the documents, and all events.
  func dropDocuments() {
    state.withLock { state in
      state.list = nil
      state.diffs = [:]
      state.diffByteCount = 0
    }
  }

  /// Forgets the events that are kept for streams which have them all by now.
  func dropEvents() {
    state.withLock { state in
      state.diffs = [:]
      state.diffByteCount = 0
    }
  }

  /// Returns the event that brings a client to this state: the diff from its list, or the whole list if
  /// it has none or the diff would be larger.
  ///
  /// - Returns: nil if the documents were dropped.
  func event(from base: Base?) -> ListEvent? {
    let (known, list) = state.withLock { state in
      (base.flatMap { state.diffs[$0.tag] }, state.list)
    }
    if let known { return known }
    guard let list else { return nil }
    let writer = writer(list)
    guard let base else { return full(writer) }
    let diff = writer.diff(
      vector.diff(from: base.vector), from: base.vector, base: Self.quoted(base.tag))
    let isShorter = diff.count < writer.fullBytesMin || diff.count < writer.full().count
    let event = isShorter ? event("diff", diff) : full(writer)
    state.withLock { state in
      guard state.list != nil, state.diffs[base.tag] == nil,
        state.diffByteCount + event.bytes.count <= Self.eventBytesMax
      else { return }
      state.diffs[base.tag] = event
      state.diffByteCount += event.bytes.count
    }
    return event
  }

  private func full(_ writer: ListDiffWriter) -> ListEvent {
    if let known = state.withLock({ $0.full }) { return known }
    let event = event("list", writer.full())
    state.withLock { $0.full = event }
    return event
  }

  private func event(_ name: String, _ data: [UInt8]) -> ListEvent {
    var frame: [UInt8] = []
    EventFrame.append(id: Self.quoted(tag), event: name, data: data, to: &frame)
    return ListEvent(frame)
  }

  private func writer(_ list: EntityList) -> ListDiffWriter {
    ListDiffWriter(
      documents: list.documents, vector: vector, tag: Self.quoted(tag), cursor: cursor,
      writeRest: { list.writeRest(to: &$0) })
  }

  private static func quoted(_ tag: String) -> String { "\"\(tag)\"" }
}
