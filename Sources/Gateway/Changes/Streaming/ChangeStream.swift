import LosslessJSON
package import Model

/// One client's live stream of changes: a reader of the log that is woken, and holds nothing but
/// its place between two reads.
///
/// One task uses it: the one that writes to the client. While that waits for a slow client, the
/// log goes on without it.
package final class ChangeStream: EventSource {
  /// Beats between two bookmarks: a minute's worth.
  private static let beatsABookmark = 4
  /// Of one read; more would be held in memory while a slow client takes it.
  private static let entriesAtATime = 100

  /// Where a stream begins, judged before anything is sent.
  package struct Start: Sendable {
    let caller: Caller
    let filter: ChangeFilter
    /// Nil for the beginning of a snapshot.
    var place: ChangePlace?
    /// Where the client's own cursor stands; nil without one.
    var told: ChangePlace?
    var fault: CursorFault.Reason?
  }

  private let feed: ChangeFeed
  private let caller: Caller
  private let viewer: Viewer
  private let filter: ChangeFilter
  private let listener: ChangeListener
  private var place: ChangePlace?
  /// The cursor that the client has, by its place; nil for none.
  private var toldPlace: ChangePlace?
  private var beatsSinceTold = 0
  private var mayHaveMore = true
  private var isAdmitted = false
  private var fault: CursorFault.Reason?
  /// What the client was last told of its queue.
  private var toldQueue: QueueStatus?
  private var mustLookAtQueue = true

  init(feed: ChangeFeed, start: Start) {
    self.feed = feed
    caller = start.caller
    viewer = start.caller.viewer
    filter = start.filter
    place = start.place
    fault = start.fault
    toldPlace = start.told
    listener = feed.signal.listen(
      as: viewer, device: caller.device?.id, lifetime: feed.lifetime(of: caller),
      hearsBeats: true)
  }

  deinit { feed.signal.remove(listener) }

  package func next() async throws(Failure) -> [UInt8]? {
    if !isAdmitted {
      // Asked again after registering: who went in between would not be told of it.
      try await feed.confirm(caller)
      isAdmitted = true
    }
    if let fault { return reset(fault) }
    while true {
      if listener.hasEnded { return nil }
      if mayHaveMore {
        if let frames = try await readOn() { return frames }
      } else if mustLookAtQueue {
        mustLookAtQueue = false
        if let frame = try await queueFrame() { return frame }
      } else {
        let wakes = await listener.next()
        if wakes.contains(.end) { return nil }
        mayHaveMore = wakes.contains(.commit)
        mustLookAtQueue = wakes.contains(.queue)
        if wakes.contains(.beat) { return beat() }
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
      // The first thing that a client without a cursor hears is where it stands.
      return toldPlace == nil && page.isComplete ? bookmark() : nil
    }
    if page.elements.last?.cursor != nil { noteTold() }
    return page.eventFrames
  }

  private func queueFrame() async throws(Failure) -> [UInt8]? {
    guard let status = try await feed.queue(of: viewer), status != toldQueue else { return nil }
    toldQueue = status
    var frame: [UInt8] = []
    EventFrame.append(id: nil, event: "queue", data: status.json.bytes, to: &frame)
    return frame
  }

  /// What the client holds is void; what follows begins anew.
  private func reset(_ reason: CursorFault.Reason) -> [UInt8] {
    fault = nil
    place = nil
    toldPlace = nil
    mayHaveMore = true
    var frame: [UInt8] = []
    let data = #"{"reason":"\#(reason.rawValue)","restart":"/v1/changes/stream"}"#
    EventFrame.append(id: "", event: "reset", data: Array(data.utf8), to: &frame)
    return frame
  }

  private func beat() -> [UInt8] {
    beatsSinceTold += 1
    guard beatsSinceTold >= Self.beatsABookmark, toldPlace != place else {
      return EventFrame.comment
    }
    return bookmark()
  }

  private func bookmark() -> [UInt8] {
    guard let place else { return EventFrame.comment }
    noteTold()
    var frame: [UInt8] = []
    let cursor = feed.desk.text(at: place, viewer: viewer, filter: filter)
    EventFrame.append(
      id: cursor, event: "bookmark", data: Array(#"{"cursor":"\#(cursor)"}"#.utf8), to: &frame)
    return frame
  }

  private func noteTold() {
    toldPlace = place
    beatsSinceTold = 0
  }
}
