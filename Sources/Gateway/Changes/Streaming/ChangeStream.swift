import LosslessJSON
package import Model
import SyncScheduler

/// One client's live stream of changes: a reader of the log that is woken by commits and holds only
/// its position between two reads.
///
/// It is used by one task, the one that writes to the client. A slow client holds up only its own
/// stream.
package final class ChangeStream: EventSource {
  /// Heartbeats between two bookmarks: one minute.
  private static let heartbeatsPerBookmark = 4
  /// The maximum number of entries per read; they stay in memory while a slow client receives them.
  private static let entriesAtATime = 100

  /// The start of a stream, validated before anything is sent.
  package struct Start: Sendable {
    let caller: Caller
    let filter: ChangeFilter
    /// Nil for the beginning of a snapshot.
    var place: ChangePlace?
    /// The position of the client's own cursor; nil without one.
    var sent: ChangePlace?
    var fault: CursorFault.Reason?
  }

  private let feed: ChangeFeed
  private let caller: Caller
  private let viewer: Viewer
  private let filter: ChangeFilter
  private let listener: ChangeListener
  private var place: ChangePlace?
  /// The position of the last cursor that the client received; nil for none.
  private var sentPlace: ChangePlace?
  private var heartbeatsSinceCursor = 0
  private var mayHaveMore = true
  private var isAdmitted = false
  private var fault: CursorFault.Reason?
  /// The queue status that was last sent to the client.
  private var sentQueue: QueueStatus?
  private var mustReadQueue = true

  init(feed: ChangeFeed, start: Start) {
    self.feed = feed
    caller = start.caller
    viewer = start.caller.viewer
    filter = start.filter
    place = start.place
    fault = start.fault
    sentPlace = start.sent
    listener = feed.signal.listen(
      as: viewer, device: caller.revocableID, user: caller.user,
      lifetime: feed.lifetime(of: caller),
      wantsHeartbeats: true)
  }

  deinit { feed.signal.remove(listener) }

  package func next() async throws(Failure) -> [UInt8]? {
    if !isAdmitted {
      // Checked again after registering: a revocation in between would not end the listener.
      try await feed.confirm(caller)
      isAdmitted = true
    }
    if let fault { return reset(fault) }
    while true {
      if listener.hasEnded { return nil }
      if mayHaveMore {
        if let frames = try await readOn() { return frames }
      } else if mustReadQueue {
        mustReadQueue = false
        if let frame = try await queueFrame() { return frame }
      } else {
        let wakes = await listener.next()
        if wakes.contains(.end) { return nil }
        mayHaveMore = wakes.contains(.commit)
        mustReadQueue = wakes.contains(.queue)
        if wakes.contains(.heartbeat) {
          // Entities can have entered or left the filter since the last one.
          if filter.usesNow { mayHaveMore = true }
          return heartbeat()
        }
      }
    }
  }

  private func readOn() async throws(Failure) -> [UInt8]? {
    let page: RenderedChanges
    switch try await feed.sharedPage(
      viewer: viewer, filter: filter, place: place, limit: Self.entriesAtATime)
    {
    case .page(let read): page = read
    case .expired: return reset(.expired)
    }
    place = page.next
    mayHaveMore = !page.isComplete
    guard !page.elements.isEmpty else {
      // A client without a cursor receives its position first.
      return sentPlace == nil && page.isComplete ? bookmark() : nil
    }
    if page.elements.last?.cursor != nil { noteSentCursor() }
    return page.eventFrames
  }

  private func queueFrame() async throws(Failure) -> [UInt8]? {
    guard let status = try await feed.queue(of: viewer), status != sentQueue else { return nil }
    sentQueue = status
    var frame: [UInt8] = []
    EventFrame.append(id: nil, event: "queue", data: status.json.bytes, to: &frame)
    return frame
  }

  /// Returns the event that tells the client to discard its data; the stream then starts over.
  private func reset(_ reason: CursorFault.Reason) -> [UInt8] {
    fault = nil
    place = nil
    sentPlace = nil
    mayHaveMore = true
    var frame: [UInt8] = []
    let data = #"{"reason":"\#(reason.rawValue)","restart":"/v1/changes/stream"}"#
    EventFrame.append(id: "", event: "reset", data: Array(data.utf8), to: &frame)
    return frame
  }

  private func heartbeat() -> [UInt8] {
    heartbeatsSinceCursor += 1
    guard heartbeatsSinceCursor >= Self.heartbeatsPerBookmark, sentPlace != place else {
      return EventFrame.comment
    }
    return bookmark()
  }

  private func bookmark() -> [UInt8] {
    guard let place else { return EventFrame.comment }
    noteSentCursor()
    var frame: [UInt8] = []
    let cursor = feed.validator.text(at: place, viewer: viewer, filter: filter)
    EventFrame.append(
      id: cursor, event: "bookmark", data: Array(#"{"cursor":"\#(cursor)"}"#.utf8), to: &frame)
    return frame
  }

  private func noteSentCursor() {
    sentPlace = place
    heartbeatsSinceCursor = 0
  }
}
