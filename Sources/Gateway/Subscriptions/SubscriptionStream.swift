package import Model

/// One client's subscription. It is used by one task, the one that writes to the client.
///
/// It ends when upstream ends the subscription, when the service drains, and when the caller's device or
/// token is no longer valid.
package final class SubscriptionStream {
  /// The start of a stream, with everything checked that can be known at once.
  package struct Start: Sendable {
    let request: ReadRequest
    /// Whether the client was connected before and may have missed events.
    package var beginsWithGap = false
  }

  /// A frame with the events of one batch together.
  package enum Frame: Sendable {
    case events(EventBatch)
    case gap
    case complete
    case error(Failure)
    case heartbeat
  }

  private let hub: SubscriptionHub
  private let devices: DeviceRegistry
  private let signal: CommitSignal
  private let caller: Caller
  private let mailbox: SubscriptionMailbox
  private let shared: SharedSubscription?
  private var isAdmitted = false
  private var isOver = false
  private var owesGap: Bool
  /// A batch whose events ``next()`` returns one by one, and the next of them.
  private var opened: (batch: EventBatch, index: Int)?

  init(hub: SubscriptionHub, devices: DeviceRegistry, signal: CommitSignal, start: Start) {
    self.hub = hub
    self.devices = devices
    self.signal = signal
    caller = start.request.caller
    owesGap = start.beginsWithGap
    // Commits do not concern it: it is woken by its mailbox.
    let listener = signal.listen(
      as: Viewer(layers: []), device: caller.revocableID, user: caller.user,
      lifetime: devices.lifetime(of: caller), wantsHeartbeats: true)
    mailbox = SubscriptionMailbox(listener: listener, subject: caller.subject)
    shared = hub.join(start.request, mailbox)
  }

  deinit {
    shared?.leave(mailbox)
    mailbox.close()
    signal.remove(mailbox.listener)
    hub.noteLeft()
  }

  /// Waits until upstream has confirmed the subscription, or the wait has become too long: a client whose
  /// response comes only then misses nothing that happens afterwards. After a longer wait it gets a gap.
  package func waitForConfirmation() async { await shared?.waitForConfirmation() }

  /// Waits for the next frame; nil when the stream ends.
  package func next() async -> SubscriptionFrame? {
    if let (batch, index) = opened {
      opened = index + 1 < batch.bodies.count ? (batch, index + 1) : nil
      return .next(batch.bodies[index])
    }
    switch await nextFrame() {
    case .events(let batch):
      opened = batch.bodies.count > 1 ? (batch, 1) : nil
      return batch.bodies.first.map { .next($0) }
    case .gap: return .gap
    case .complete: return .complete
    case .error(let failure): return .error(failure)
    case .heartbeat: return .heartbeat
    case nil: return nil
    }
  }

  /// Waits for the next frame; nil when the stream ends. All events that were stored together come in one
  /// frame.
  package func nextFrame() async -> Frame? {
    if isOver { return nil }
    if !isAdmitted {
      // Checked again after registering: a revocation in between would not end the listener.
      do throws(Failure) {
        try await devices.confirm(caller)
      } catch {
        isOver = true
        return .error(error)
      }
      isAdmitted = true
    }
    while true {
      if mailbox.listener.hasEnded { return nil }
      if owesGap {
        owesGap = false
        return .gap
      }
      if let frame = take() { return frame }
      let wakes = await mailbox.listener.next()
      if wakes.contains(.end) { return nil }
      if wakes == .heartbeat { return .heartbeat }
    }
  }

  private func take() -> Frame? {
    guard let content = mailbox.take() else { return nil }
    isOver = content.isFinal
    switch content {
    case .batch(let batch):
      batch.noteDelivered()
      return .events(batch)
    case .gap: return .gap
    case .complete: return .complete
    case .error(let failure): return .error(failure)
    }
  }
}
