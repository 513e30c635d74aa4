import DequeModule
import HTTPClient
import Synchronization
import Transport

/// One connection to upstream with its subscriptions: performs what its ``SubscriptionSession`` decides.
///
/// All events go through one lock, and the actions of an event are performed in it, so their order is
/// the session's. A task serves each connection in turn; what a former one still reports is ignored by
/// its number. Another task keeps the session's deadlines.
final class SubscriptionLink: Sendable {
  private struct State {
    var session: SubscriptionSession
    var buffers: [Int: SubscriptionBuffer] = [:]
    /// The number of the present connection, or of the attempt to make it; nil without one.
    var connection: Int?
    var lastConnection = 0
    var socket: (any SubscriptionSocket)?
    var outgoing: OutgoingTexts?
    var task: Task<Void, Never>?
    /// Subscriptions without room for further events.
    var crowded: Set<Int> = []
    /// What the timer waits for; nil if it waits for no time.
    var wake: Duration?
    var hasTimer = false
    var isRetired = false
    /// Subscriptions to start on another connection.
    var relocated: [SubscriptionBuffer] = []
  }

  let credential: String
  let environment: SubscriptionEnvironment
  private let owner: UpstreamSubscriptions
  private let state: Mutex<State>
  private let room = AsyncSignal()
  private let time: AsyncSignal

  init(
    credential: String, headers: CallHeaders, environment: SubscriptionEnvironment,
    owner: UpstreamSubscriptions
  ) {
    self.credential = credential
    self.environment = environment
    self.owner = owner
    time = AsyncSignal(sleep: environment.sleep)
    state = Mutex(
      State(
        session: SubscriptionSession(
          settings: environment.settings, host: environment.host, limits: environment.limits,
          headers: headers, random: environment.random)))
  }

  var hasRoom: Bool { state.withLock { $0.session.hasRoom } }
  var isFinished: Bool { state.withLock { $0.session.isFinished } }
  /// The newest headers of the credential.
  var headers: CallHeaders { state.withLock { $0.session.newest } }

  /// Starts a subscription here. Its owner makes sure that the link is not retired meanwhile.
  func add(_ buffer: SubscriptionBuffer, _ headers: CallHeaders) {
    state.withLock { state in
      guard buffer.attach(to: self) else { return }
      state.buffers[buffer.number] = buffer
      perform(.offered(headers), &state)
      let event = SessionEvent.subscribe(
        buffer.number, buffer.request, wasEstablished: buffer.wasEstablished)
      perform(event, &state)
      startTimer(&state)
    }
  }

  func cancel(_ number: Int) { handle(.cancel(number)) }

  /// Handles an event.
  ///
  /// - Parameter connection: the number of the connection that reports it; nil for other events.
  /// - Returns: false for an event of a former connection.
  @discardableResult
  func handle(_ event: SessionEvent, of connection: Int? = nil) -> Bool {
    let (isCurrent, relocated) = state.withLock { state in
      guard connection == nil || connection == state.connection else {
        return (false, [SubscriptionBuffer]())
      }
      perform(event, &state)
      defer { state.relocated = [] }
      return (true, state.relocated)
    }
    for buffer in relocated { owner.relocate(buffer, from: self) }
    endIfFinished()
    return isCurrent
  }

  /// Lets the owner forget a link without subscriptions and connection.
  func endIfFinished() {
    if isFinished { owner.retire(self) }
  }

  func noteRoom() { room.notify() }

  /// Ends the timer. The link is not used any more.
  func retire() {
    state.withLock { $0.isRetired = true }
    time.notify()
  }

  // MARK: Actions

  private func perform(_ event: SessionEvent, _ state: inout State) {
    switch event {
    case .cancel(let number):
      state.buffers[number] = nil
      if state.crowded.remove(number) != nil { room.notify() }
    case .closed, .openingFailed: forgetConnection(&state)
    default: break
    }
    var actions = Deque(state.session.handle(event, at: environment.uptime()))
    while let action = actions.popFirst() {
      if perform(action, &state) { continue }
      actions.append(contentsOf: state.session.handle(.overflowed, at: environment.uptime()))
    }
    if let deadline = state.session.deadline, state.wake.map({ deadline < $0 }) ?? true {
      state.wake = deadline
      time.notify()
    }
  }

  /// - Returns: false if too many messages wait to be sent.
  private func perform(_ action: SessionAction, _ state: inout State) -> Bool {
    switch action {
    case .open(let headers, let isReconnect): open(headers, isReconnect: isReconnect, &state)
    case .send(let text): return state.outgoing?.append(text) ?? true
    case .deliver(let number, let delivery): deliver(delivery, to: number, &state)
    case .close(let code, let reason):
      state.socket?.close(code: code, reason: reason)
      state.task?.cancel()
      forgetConnection(&state)
    case .relocate(let number):
      if let buffer = state.buffers.removeValue(forKey: number) { state.relocated.append(buffer) }
    }
    return true
  }

  private func open(_ headers: CallHeaders, isReconnect: Bool, _ state: inout State) {
    if isReconnect { environment.meters.noteReconnect() }
    state.lastConnection += 1
    let number = state.lastConnection
    state.connection = number
    state.task = Task.detached { [self] in await serve(number, headers) }
  }

  private func deliver(
    _ delivery: SubscriptionDelivery, to number: Int, _ state: inout State
  ) {
    guard let buffer = state.buffers[number] else { return }
    switch delivery {
    case .established(afterGap: true): environment.meters.noteGap()
    case .interrupted(.refused(.unauthenticated)), .failed(.refused(.unauthenticated)):
      environment.meters.noteRefusal()
    default: break
    }
    buffer.append(delivery)
    if delivery.isLast {
      state.buffers[number] = nil
      state.crowded.remove(number)
    } else if !buffer.hasRoom {
      state.crowded.insert(number)
    }
  }

  private func forgetConnection(_ state: inout State) {
    state.connection = nil
    state.socket = nil
    state.task = nil
    state.outgoing?.finish()
    state.outgoing = nil
  }

  // MARK: Time

  private func startTimer(_ state: inout State) {
    guard !state.hasTimer else { return }
    state.hasTimer = true
    Task.detached { [self] in await keepTime() }
  }

  private func keepTime() async {
    while true {
      let seen = time.count
      let (deadline, isRetired) = state.withLock { state in
        state.wake = state.session.deadline
        return (state.wake, state.isRetired)
      }
      if isRetired { return }
      let now = environment.uptime()
      if let deadline, deadline <= now {
        handle(.tick)
      } else {
        await time.wait(after: seen, atMost: deadline.map { $0 - now })
      }
    }
  }

  // MARK: For the task of a connection

  /// The request of an event stream, which has only one.
  var onlyRequest: SubscriptionRequest? {
    state.withLock { $0.session.entries.values.first?.request }
  }

  /// The id of an event stream's subscription; empty once it has ended.
  var onlyID: String { state.withLock { $0.session.numbers.keys.first ?? "" } }

  /// Uses a connection that is open.
  ///
  /// - Returns: nil if it is not wanted any more.
  func adopt(_ socket: (any SubscriptionSocket)?, as number: Int) -> OutgoingTexts? {
    state.withLock { state in
      guard state.connection == number else { return nil }
      let outgoing = OutgoingTexts(countMax: environment.limits.outgoingMax)
      state.socket = socket
      state.outgoing = outgoing
      perform(.opened(subprotocol: socket?.subprotocol), &state)
      return state.connection == number ? outgoing : nil
    }
  }

  var dialect: SubscriptionDialect? { state.withLock { $0.session.dialect } }

  /// Waits until every subscription has room for an event.
  ///
  /// - Returns: false if the connection is not wanted any more.
  func waitForRoom(as number: Int) async -> Bool {
    var isPaused = false
    while true {
      let seen = room.count
      let (isCurrent, hasRoom) = state.withLock { state in
        if !state.crowded.isEmpty {
          state.crowded = state.crowded.filter { state.buffers[$0]?.hasRoom == false }
        }
        return (state.connection == number, state.crowded.isEmpty)
      }
      if !isCurrent || Task.isCancelled { return false }
      if hasRoom { return isPaused ? handle(.resumed, of: number) : true }
      if !isPaused {
        isPaused = true
        handle(.paused, of: number)
        continue
      }
      await room.wait(after: seen)
    }
  }
}
