import Logging
import Model
import Synchronization
import Transport
import Upstream

/// One upstream subscription, and everyone who shares it.
///
/// A task reads upstream, writes the events to the store in batches, and gives every client the same
/// rendered batch. When the last client has left, it goes on for ``SubscriptionHub/linger``, so that a
/// page that reloads finds it. Once closed, it takes in no client: ``SubscriptionHub`` makes another one.
final class SharedSubscription: Sendable {
  private struct State {
    /// The request whose credential is used when the subscription is opened again: the newest one.
    var request: ReadRequest
    var members: [ObjectIdentifier: SubscriptionMailbox] = [:]
    var keepers: [any SubscriptionKeeper] = []
    var phase = SubscriptionStatus.Phase.connecting
    /// Whether upstream has confirmed it once.
    var isConfirmed = false
    var isRepairing = false
    var upstream: UpstreamSubscription?
    var isClosed = false
    var ending: SubscriptionEnding?
    /// Counts the times that the last client left.
    var departures = 0
    var events = 0
    var gaps = 0
    var lastInterruption: String?

    var isWanted: Bool { !members.isEmpty || !keepers.isEmpty }
  }

  /// A first confirmation that takes longer is a gap: clients have got their response by then, and what
  /// they fetched since may have changed unseen.
  static let confirmationMax = Duration.seconds(1)
  /// The pauses between attempts to mark what events that could not be stored concern.
  private static let repairPauses = (first: Duration.seconds(1), max: Duration.seconds(60))

  let key: ResultKey
  private let context: SubscriptionHub.Environment
  private let meters: SharedSubscriptionMeters
  private let state: Mutex<State>
  /// Notified when it is confirmed and when it ends.
  private let progress: AsyncSignal
  private let created: Duration
  /// Called once, when it takes in no more clients.
  private let whenClosed: @Sendable (SharedSubscription) -> Void

  init(
    _ request: ReadRequest, _ context: SubscriptionHub.Environment,
    whenClosed: @escaping @Sendable (SharedSubscription) -> Void
  ) {
    key = request.key
    self.context = context
    self.whenClosed = whenClosed
    meters = SharedSubscriptionMeters(operation: request.key.operation)
    progress = AsyncSignal(sleep: context.sleep)
    created = context.uptime()
    state = Mutex(State(request: request))
  }

  var status: SubscriptionStatus {
    state.withLock { state in
      SubscriptionStatus(
        upstream: state.request.operation.upstream, key: key, phase: state.phase,
        clients: state.members.count,
        isStanding: !state.keepers.isEmpty, events: state.events, gaps: state.gaps,
        lastInterruption: state.lastInterruption)
    }
  }

  // MARK: Joining and leaving

  /// Takes a client in; false if the subscription has ended.
  func join(_ mailbox: SubscriptionMailbox, _ request: ReadRequest) -> Bool {
    let former = state.withLock { state -> ReadRequest? in
      guard !state.isClosed else { return nil }
      state.members[ObjectIdentifier(mailbox)] = mailbox
      defer { state.request = request }
      return state.request
    }
    guard let former else { return false }
    if former.caller.forwarded(for: key.scope) != request.caller.forwarded(for: key.scope) {
      context.opening.renew(
        request.operation, credential: SubscriptionCredential.name(for: request),
        with: UpstreamCall(request))
    }
    return true
  }

  /// Takes a keeper in; nil if the subscription has ended.
  ///
  /// - Returns: whether upstream runs the subscription already.
  func join(_ keeper: any SubscriptionKeeper) -> Bool? {
    state.withLock { state in
      guard !state.isClosed else { return nil }
      state.keepers.append(keeper)
      return state.phase == .live
    }
  }

  func leave(_ mailbox: SubscriptionMailbox) {
    depart { $0.members.removeValue(forKey: ObjectIdentifier(mailbox)) != nil }
  }

  func leave(_ keeper: any SubscriptionKeeper) {
    depart { state in
      let count = state.keepers.count
      state.keepers.removeAll { $0 === keeper }
      return state.keepers.count < count
    }
  }

  private func depart(_ remove: (inout State) -> Bool) {
    let departure = state.withLock { state -> Int? in
      guard remove(&state), !state.isWanted, !state.isClosed else { return nil }
      state.departures += 1
      return state.departures
    }
    guard let departure else { return }
    Task.detached { [self] in
      try? await context.sleep(SubscriptionHub.linger)
      close { !$0.isWanted && $0.departures == departure }
    }
  }

  /// Ends it without an event for its clients: the service ends.
  func end() { close { _ in true } }

  private func close(if condition: (State) -> Bool) {
    let upstream = state.withLock { state -> UpstreamSubscription?? in
      guard !state.isClosed, condition(state) else { return nil }
      state.isClosed = true
      return .some(state.upstream)
    }
    guard let upstream else { return }
    whenClosed(self)
    upstream?.cancel()
  }

  /// Waits for the end.
  func waitForEnd() async -> SubscriptionEnding {
    while true {
      let seen = progress.count
      if let ending = state.withLock({ $0.ending }) { return ending }
      if Task.isCancelled { return .left }
      await progress.wait(after: seen)
    }
  }

  /// Waits until upstream has confirmed it, it has ended, or ``confirmationMax`` has passed since it was
  /// made.
  func waitForConfirmation() async {
    while !Task.isCancelled {
      let seen = progress.count
      if state.withLock({ $0.isConfirmed || $0.ending != nil }) { return }
      let left = created + Self.confirmationMax - context.uptime()
      guard left > .zero else { return }
      await progress.wait(after: seen, atMost: left)
    }
  }

  // MARK: Running

  /// Runs the subscription until it ends.
  func run() async {
    var owesGap = false
    while true {
      let request = state.withLock { $0.request }
      let upstream = context.opening.open(
        request.operation, variables: request.variables, call: UpstreamCall(request),
        credential: SubscriptionCredential.name(for: request))
      let isClosed = state.withLock { state in
        state.upstream = upstream
        return state.isClosed
      }
      if isClosed { upstream.cancel() }
      let inbox = EventInbox(uptime: context.uptime)
      async let filling: Void = inbox.fill(from: upstream)
      let ending = await follow(inbox, request: request, owesGap: owesGap)
      upstream.cancel()
      inbox.close()
      await filling
      guard let failure = ending.refusal, replacesCredential(of: request) else {
        return finish(ending, request: request)
      }
      context.logger.info(
        "a subscription is opened again with the caller's newer credential",
        metadata: ["operation": "\(key.operation)", "cause": "\(failure)"])
      owesGap = true
    }
  }

  /// Whether a later client brought another credential than the one that upstream refused.
  private func replacesCredential(of request: ReadRequest) -> Bool {
    state.withLock { state in
      !state.isClosed
        && state.request.caller.forwarded(for: key.scope)
          != request.caller.forwarded(for: key.scope)
    }
  }

  private enum Outcome {
    case completed
    case failed(UpstreamFailure)
    case closed

    /// The failure by which upstream refused the credential.
    var refusal: UpstreamFailure? {
      guard case .failed(let failure) = self, failure.permission != nil else { return nil }
      return failure
    }
  }

  private func follow(
    _ inbox: EventInbox, request: ReadRequest, owesGap: Bool
  ) async -> Outcome {
    var owesGap = owesGap
    while true {
      let arrivals = await inbox.take()
      if arrivals.isEmpty {
        let isClosed = state.withLock { $0.isClosed }
        return isClosed ? .closed : .failed(.lost(cause: "the subscription ended without a reason"))
      }
      var responses: [UpstreamResponse] = []
      for arrival in arrivals {
        if case .next(let response) = arrival.event {
          responses.append(response)
          continue
        }
        await deliver(responses, of: request, since: arrivals[0].at)
        responses = []
        switch arrival.event {
        case .next: break
        case .established(let afterGap):
          await noteEstablished(request, afterGap: afterGap || owesGap)
          owesGap = false
        case .interrupted(let failure): await noteInterruption(failure)
        case .complete: return .completed
        case .failed(let failure): return .failed(failure)
        }
      }
      await deliver(responses, of: request, since: arrivals[0].at)
    }
  }

  private func noteEstablished(_ request: ReadRequest, afterGap: Bool) async {
    let isLate = context.uptime() - created > Self.confirmationMax
    let (keepers, afterGap, comesBack) = state.withLock { state in
      let isGap = afterGap || !state.isConfirmed && (isLate || state.phase == .interrupted)
      let comesBack = state.phase == .interrupted
      state.phase = .live
      state.isConfirmed = true
      if isGap { state.gaps += 1 }
      return (state.keepers, isGap, comesBack)
    }
    if comesBack {
      context.logger.log(
        level: keepers.isEmpty ? .info : .warning, "a subscription is live again",
        metadata: ["operation": "\(key.operation)", "upstream": "\(request.operation.upstream)"])
    }
    progress.notify()
    await fill(request, keepers, afterGap: afterGap)
  }

  /// Lets keepers fill a gap, or marks what it concerns, and then tells the clients.
  private func fill(
    _ request: ReadRequest, _ keepers: [any SubscriptionKeeper], afterGap: Bool
  ) async {
    for keeper in keepers { await keeper.established(afterGap: afterGap) }
    guard afterGap else { return }
    if keepers.isEmpty, await !context.writer.markDue(request, everywhere: false) {
      repair(request)
    }
    addGaps()
  }

  private func addGaps() {
    for member in state.withLock({ Array($0.members.values) }) { member.addGap() }
  }

  /// The first interruption of a standing subscription is logged as a warning: stored data grows old
  /// from now on.
  private func noteInterruption(_ failure: UpstreamFailure) async {
    let (keepers, isFirst, upstream) = state.withLock { state in
      defer {
        state.phase = .interrupted
        state.lastInterruption = "\(failure)"
      }
      return (state.keepers, state.phase != .interrupted, state.request.operation.upstream)
    }
    context.logger.log(
      level: isFirst && !keepers.isEmpty ? .warning : .info, "a subscription was interrupted",
      metadata: [
        "operation": "\(key.operation)", "upstream": "\(upstream)", "cause": "\(failure)",
      ])
    for keeper in keepers { await keeper.interrupted(failure) }
  }

  /// Stores events and gives them to the clients.
  private func deliver(
    _ responses: [UpstreamResponse], of request: ReadRequest, since arrival: Duration
  ) async {
    guard !responses.isEmpty else { return }
    if await !context.writer.write(responses, of: request) { repair(request) }
    meters.noteEvents(responses.count)
    let members = state.withLock { state in
      state.events += responses.count
      return Array(state.members.values)
    }
    guard !members.isEmpty else { return }
    let batch = EventBatch(responses.map { context.writer.render($0, of: request) }) {
      [meters, uptime = context.uptime] in
      meters.noteLag(uptime() - arrival)
    }
    batch.expect(members.count)
    var slow = 0
    for member in members {
      if member.add(batch) { slow += 1 }
    }
    for member in members { member.listener.wake(.commit) }
    meters.noteSlowClients(slow)
  }

  /// Treats events that could not be stored, as on a full disk, like events that were lost: once the store
  /// takes it, keepers catch up, or what the events concern becomes due, and clients get a gap. It goes on
  /// after the last client has left.
  private func repair(_ request: ReadRequest) {
    let isFirst = state.withLock { state in
      defer { state.isRepairing = true }
      return !state.isRepairing
    }
    guard isFirst else { return }
    Task.detached { [self] in
      var pause = Self.repairPauses.first
      while true {
        do { try await context.sleep(pause) } catch { return }
        pause = min(pause * 2, Self.repairPauses.max)
        // An event that fails from here on asks for another repair.
        state.withLock { $0.isRepairing = false }
        if await context.writer.markDue(request, everywhere: !keepers.isEmpty) { break }
        state.withLock { $0.isRepairing = true }
      }
      for keeper in keepers {
        await keeper.interrupted(nil)
        await keeper.established(afterGap: true)
      }
      state.withLock { $0.gaps += 1 }
      addGaps()
    }
  }

  private var keepers: [any SubscriptionKeeper] { state.withLock { $0.keepers } }

  private func finish(_ outcome: Outcome, request: ReadRequest) {
    let (members, wasClosed) = state.withLock { state in
      defer {
        state.isClosed = true
        state.members = [:]
        state.upstream = nil
      }
      return (Array(state.members.values), state.isClosed)
    }
    if !wasClosed { whenClosed(self) }
    let ending: SubscriptionEnding
    switch outcome {
    case .completed:
      ending = .completed
      for member in members { member.end(with: .complete) }
    case .failed(let failure):
      let shown = failure.subscriptionFailure
      ending = .failed(shown)
      context.logger.info(
        "a subscription failed",
        metadata: ["operation": "\(key.operation)", "cause": "\(failure)"])
      if request.scope.kind != .claim { context.failures.remember(shown, for: key) }
      for member in members {
        let isRefused = failure.permission != nil && member.subject != request.caller.subject
        // Upstream refused another member's token, which says nothing of this client's.
        member.end(with: .error(isRefused ? .otherMembersRefusal : shown))
      }
    case .closed: ending = .left
    }
    state.withLock { $0.ending = ending }
    progress.notify()
  }
}
