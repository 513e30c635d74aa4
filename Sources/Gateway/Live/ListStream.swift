package import Model

/// One client's stream of a list: the whole list, then a diff whenever it changes.
///
/// It holds the tag of the list that the client has and at most one event; all streams of the same list and
/// viewer share what is read and rendered. A slow client skips states: the diff it gets next leads from its
/// own list to the present one, and where its list is no longer known it gets the present one whole.
package final class ListStream: StagedSource {
  /// The start of a stream: a list that has been read once, so that its failure is an HTTP response.
  package struct Start: Sendable {
    let subscription: ListSubscription
    let caller: Caller
    /// The tag of the list that the client has.
    let knownTag: String?
  }

  private let lists: LiveLists
  private let subscription: ListSubscription
  private let caller: Caller
  private let listener: ChangeListener
  /// The tag of the list that the client has; nil if that is unknown.
  private var sent: String?
  private var knownTag: String?
  private var isAdmitted = false
  /// The event that waits for the client: others that send the same share it.
  private var waiting: ListEvent?
  /// Whether the present list has been asked for and is still to be published.
  private var isAwaited = false

  init(lists: LiveLists, start: Start) {
    self.lists = lists
    subscription = start.subscription
    caller = start.caller
    knownTag = start.knownTag
    // Commits wake the list, which wakes its streams when it shows something else.
    listener = lists.signal.listen(
      as: Viewer(layers: []), device: caller.revocableID, user: caller.user,
      lifetime: lists.devices.lifetime(of: caller), wantsHeartbeats: true)
    subscription.list.add(listener)
  }

  deinit {
    subscription.list.remove(listener)
    lists.signal.remove(listener)
  }

  package func next() async throws(Failure) -> [UInt8]? {
    try await admit()
    while true {
      if listener.hasEnded { return nil }
      if let frame = try take() { return frame }
      let wakes = await listener.next()
      if wakes.contains(.end) { return nil }
      if wakes.contains(.heartbeat) { return try take() ?? EventFrame.comment }
    }
  }

  private func admit() async throws(Failure) {
    if isAdmitted { return }
    // Checked again after registering: a revocation in between would not end the listener.
    try await lists.devices.confirm(caller)
    isAdmitted = true
  }

  // MARK: In two steps

  func ready() async throws(Failure) -> Bool {
    release()
    try await admit()
    while true {
      if listener.hasEnded { return false }
      if !isAwaited, let version = try subscription.list.current() {
        if version.tag == knownTag { (sent, knownTag) = (knownTag, nil) }
        if version.tag != sent { return true }
        subscription.list.noteTaken(version, by: listener)
      }
      isAwaited = false
      if await listener.next().contains(.end) { return false }
    }
  }

  /// Returns the event that leads to the present list; nil if the client has it, or if the list must be
  /// read for it, which wakes the stream.
  func take() throws(Failure) -> [UInt8]? {
    let list = subscription.list
    release()
    isAwaited = false
    guard let version = try list.current() else { return nil }
    if let tag = knownTag {
      knownTag = nil
      if tag == version.tag || base(tagged: tag) != nil { sent = tag }
    }
    guard version.tag != sent else {
      list.noteTaken(version, by: listener)
      return nil
    }
    guard let event = version.event(from: sent.flatMap(base)) else {
      isAwaited = true
      lists.readWhole(list)
      return nil
    }
    sent = version.tag
    waiting = event
    subscription.hold(event.bytes.count)
    list.noteTaken(version, by: listener)
    return event.bytes
  }

  /// Notes that the client has taken the event that waited.
  private func release() {
    waiting = nil
    subscription.hold(0)
  }

  private func base(tagged tag: String) -> ListVersion.Base? {
    let list = subscription.list
    return list.base(tagged: tag)
      ?? lists.memory.vector(tagged: tag, seenBy: list.viewer).map {
        ListVersion.Base(tag: tag, vector: $0)
      }
  }
}
