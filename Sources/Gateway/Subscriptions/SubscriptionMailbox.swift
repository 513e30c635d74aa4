import DequeModule
import Model
import Synchronization

/// The frames that wait for one client of a subscription.
///
/// It is bounded: a client that reads too slowly loses what waits for it, is notified of the gap, and
/// continues with the newest event. Nothing ever waits for a client.
final class SubscriptionMailbox: Sendable {
  enum Content: Sendable {
    case batch(EventBatch)
    case gap
    case complete
    case error(Failure)

    var isFinal: Bool {
      switch self {
      case .batch, .gap: false
      case .complete, .error: true
      }
    }
  }

  /// The maximum number of waiting events: several batches, each of at most
  /// ``EventInbox/eventsMax`` events.
  static let eventsMax = 1_024
  /// The maximum size of the waiting events. Clients share their bytes, so this is what one subscription
  /// holds and not each client.
  static let bytesMax = 4 << 20

  private struct State {
    var contents: Deque<Content> = []
    var events = 0
    var bytes = 0
    var hasEnded = false

    /// Removes what waits, and returns its batches.
    mutating func removeAll() -> [EventBatch] {
      defer { (contents, events, bytes) = ([], 0, 0) }
      return contents.compactMap { if case .batch(let batch) = $0 { batch } else { nil } }
    }
  }

  /// The subject of the caller, see ``Caller/subject``.
  let subject: String?
  /// Woken for new frames, besides heartbeats and the end of the caller's tokens.
  let listener: ChangeListener
  private let state = Mutex(State())

  init(listener: ChangeListener, subject: String?) {
    self.listener = listener
    self.subject = subject
  }

  /// Adds events without waking the client.
  ///
  /// - Returns: whether the client was too slow and lost earlier ones.
  func add(_ batch: EventBatch) -> Bool {
    let (isAdded, lost) = state.withLock { state -> (Bool, [EventBatch]) in
      guard !state.hasEnded else { return (false, []) }
      var lost: [EventBatch] = []
      let isFull =
        state.events + batch.bodies.count > Self.eventsMax
        || state.bytes + batch.byteCount > Self.bytesMax
      // One batch always fits, whatever its size.
      if state.events > 0, isFull {
        lost = state.removeAll()
        state.contents.append(.gap)
      }
      state.contents.append(.batch(batch))
      state.events += batch.bodies.count
      state.bytes += batch.byteCount
      return (true, lost)
    }
    if !isAdded { batch.noteDelivered() }
    for batch in lost { batch.noteDelivered() }
    return !lost.isEmpty
  }

  /// Adds a gap, unless one is the last thing that waits.
  func addGap() {
    state.withLock { state in
      if state.hasEnded { return }
      if case .gap? = state.contents.last { return }
      state.contents.append(.gap)
    }
    listener.wake(.commit)
  }

  /// Adds the last frame.
  func end(with content: Content) {
    state.withLock { state in
      guard !state.hasEnded else { return }
      state.hasEnded = true
      state.contents.append(content)
    }
    listener.wake(.commit)
  }

  /// Returns what waits first; nil if nothing waits.
  func take() -> Content? {
    state.withLock { state in
      guard let content = state.contents.popFirst() else { return nil }
      if case .batch(let batch) = content {
        state.events -= batch.bodies.count
        state.bytes -= batch.byteCount
      }
      return content
    }
  }

  /// Drops what waits: the client has gone.
  func close() {
    let lost = state.withLock { state in
      state.hasEnded = true
      return state.removeAll()
    }
    for batch in lost { batch.noteDelivered() }
  }
}
