import Gateway
import LosslessJSON
import Model
import Synchronization

/// The client at the other end of a connection of GraphQL messages.
protocol GraphQLPeer: Sendable {
  /// Waits for the next message; nil for one that is not text. Throws at the end of the connection.
  func receive() async throws -> [UInt8]?
  /// Sends a text, once there is room for it. Throws at the end of the connection.
  func send(text: [UInt8]) async throws
  /// Sets what handles texts on the connection's loop, before `receive` returns them.
  func handleNow(_ handler: @escaping GraphQLConnection.ImmediateHandler)
  /// Begins to close the connection and returns at once.
  func close(_ close: GraphQLSession.Close)
}

/// One connection that speaks `graphql-transport-ws`: performs the actions of a ``GraphQLSession``.
///
/// One task reads the client's messages, and each operation has a task of its own. Messages that need no
/// waiting are handled on the connection's loop instead of by the reading task. All of them send in turn,
/// and the session is asked for a message only when it is its turn: no result follows the end of its
/// operation. A client that does not read holds up its own operations, each with one result at most.
///
/// The connection ends with its caller: when the user's token expires, or the device is removed or gets
/// another token, it is closed with 4403.
final class GraphQLConnection: Sendable {
  /// How long a client can wait before `connection_init`.
  static let initialisationTimeout = Duration.seconds(10)

  /// Finds the caller by the payload of `connection_init`.
  typealias Identify = @Sendable (JSONValue) async throws(Failure) -> Caller

  /// Handles a text without waiting and returns true; false if it has to wait. What it sends, it sends by
  /// the closure that it is given.
  typealias ImmediateHandler =
    @Sendable (_ text: [UInt8], _ send: (_ text: [UInt8]) -> Void) -> Bool

  private struct State {
    var session = GraphQLSession()
    /// Set before the session is ready.
    var caller: Caller?
    /// The tasks of operations by their numbers.
    var operations: [UInt64: Task<Void, Never>] = [:]
    /// The tasks that wait for the caller's credentials and their end.
    var others: [Task<Void, Never>] = []
  }

  private let peer: any GraphQLPeer
  private let operations: GraphQLOperations
  private let identify: Identify
  /// Whether the caller may begin one more operation now.
  private let mayBegin: @Sendable () -> Bool
  /// Logs a failure.
  private let note: @Sendable (Failure) -> Void
  private let state = Mutex(State())
  private let turn = SendTurn()

  init(
    peer: any GraphQLPeer, operations: GraphQLOperations, identify: @escaping Identify,
    mayBegin: @escaping @Sendable () -> Bool, note: @escaping @Sendable (Failure) -> Void
  ) {
    self.peer = peer
    self.operations = operations
    self.identify = identify
    self.mayBegin = mayBegin
    self.note = note
  }

  /// Serves the connection until it ends.
  func serve() async {
    spawn { connection in
      let watch = connection.operations.operations.watch(for: Self.initialisationTimeout)
      let end = await watch.end()
      guard !Task.isCancelled else { return }
      await connection.perform {
        end == .drained ? $0.end(.goingAway) : $0.runOutOfTime()
      }
    }
    peer.handleNow { [self] text, send in receiveNow(text, send) }
    do {
      // Also after the session has closed: another task may be about to close the connection with the
      // session's code, and returning would close it with another one.
      while true {
        let message = try await peer.receive()
        await perform { $0.receive(message) }
      }
    } catch {
      // The connection has ended; its reason changes nothing here.
    }
    _ = state.withLock { $0.session.end(.goingAway) }
    for task in stop() { await task.value }
  }

  // MARK: Actions

  private func perform(_ react: (inout GraphQLSession) -> [GraphQLSession.Action]) async {
    for action in state.withLock({ react(&$0.session) }) {
      if let text = perform(action) { await send { _ in text } }
    }
  }

  /// Handles a message, unless another task is sending.
  private func receiveNow(_ text: [UInt8], _ send: (_ text: [UInt8]) -> Void) -> Bool {
    guard turn.takeNow() else { return false }
    defer { turn.release() }
    for action in state.withLock({ $0.session.receive(text) }) {
      if let text = perform(action) { send(text) }
    }
    return true
  }

  /// Performs an action that needs no waiting, or returns the text to send.
  private func perform(_ action: GraphQLSession.Action) -> [UInt8]? {
    switch action {
    case .send(let text): return text
    case .check(let payload): spawn { await $0.check(payload) }
    case .begin(let operation): begin(operation)
    case .cancel(let number):
      state.withLock { $0.operations.removeValue(forKey: number) }?.cancel()
    case .close(let close):
      stop()
      peer.close(close)
    }
    return nil
  }

  /// Starts a task that ends with the connection.
  private func spawn(_ work: @escaping @Sendable (GraphQLConnection) async -> Void) {
    state.withLock { state in
      guard !state.session.isClosed else { return }
      state.others.append(Task { await work(self) })
    }
  }

  /// Cancels all tasks.
  @discardableResult
  private func stop() -> [Task<Void, Never>] {
    let tasks = state.withLock { Array($0.operations.values) + $0.others }
    for task in tasks { task.cancel() }
    return tasks
  }

  private func check(_ payload: JSONValue) async {
    do throws(Failure) {
      let caller = try await identify(payload)
      let watch = try await operations.operations.watch(caller)
      state.withLock { $0.caller = caller }
      await perform { $0.admit() }
      let end = await watch.end()
      guard !Task.isCancelled else { return }
      await perform { end == .drained ? $0.end(.goingAway) : $0.refuse("the token has ended") }
    } catch {
      note(error)
      await perform {
        switch error.retry {
        case .after: $0.end(.unavailable)
        default:
          error.code == .malformedRequest
            ? $0.end(.invalid(error.message)) : $0.refuse(error.code.rawValue)
        }
      }
    }
  }

  /// Sends a message, if the session still has one when it is this task's turn.
  ///
  /// - Returns: false if there was none, or the connection has ended.
  @discardableResult
  private func send(_ make: (inout GraphQLSession) -> [UInt8]?) async -> Bool {
    await turn.take()
    defer { turn.release() }
    guard let text = state.withLock({ make(&$0.session) }) else { return false }
    do {
      try await peer.send(text: text)
      return true
    } catch {
      return false
    }
  }

  // MARK: Operations

  private func begin(_ operation: GraphQLSession.Operation) {
    state.withLock { state in
      // Closed or cancelled by another task meanwhile.
      guard state.session.isRunning(operation.number), let caller = state.caller else {
        return state.session.noteWorkEnded(of: operation.number)
      }
      state.operations[operation.number] = Task {
        // It returns when its call to upstream has ended, even if the client has ended it before.
        await run(operation, by: caller)
        self.state.withLock { state in
          state.operations[operation.number] = nil
          state.session.noteWorkEnded(of: operation.number)
        }
      }
    }
  }

  private func run(_ operation: GraphQLSession.Operation, by caller: Caller) async {
    let number = operation.number
    do throws(GraphQLRefusal) {
      guard mayBegin() else {
        throw GraphQLRefusal(
          Failure(.rateLimited, "Too many operations; retry later.", retry: .after))
      }
      let request = try DocumentRequest(operation.request)
      let results = try await operations.begin(
        request, try operations.match(request), caller: caller, key: request.idempotencyKey)
      try await send(results, of: number, by: caller)
    } catch {
      note(error.failure)
      await send { $0.fail(number, error.errors(requestID: nil)) }
    }
  }

  private func send(
    _ results: GraphQLOperations.Results, of number: UInt64, by caller: Caller
  ) async throws(GraphQLRefusal) {
    switch results {
    case .single(let body):
      await send { $0.next(body, of: number) }
    case .live(let start):
      let stream = operations.operations.open(start)
      while let update = try await next(of: stream) {
        guard case .response(let rendered) = update else { continue }
        guard await send({ $0.next(rendered.body, of: number) }) else { return }
      }
      return try await refuse(number, of: caller)
    case .events(let start):
      let stream = operations.subscriptions.open(start)
      while let frame = await stream.next() {
        switch frame {
        case .next(let body): await send { $0.next(body, of: number) }
        case .gap: await send { $0.next(GraphQLGap.body, of: number) }
        case .heartbeat: continue
        case .error(let failure): throw GraphQLRefusal(failure)
        case .complete:
          await send { $0.complete(number) }
          return
        }
        if Task.isCancelled { return }
      }
      return try await refuse(number, of: caller)
    }
    await send { $0.complete(number) }
  }

  private func next(
    of stream: OperationStream
  ) async throws(GraphQLRefusal) -> OperationStream.Update? {
    try await GraphQLRefusal.converting { () async throws(Failure) in
      try await stream.nextUpdate()
    }
  }

  /// Ends an operation whose stream has ended without a reason. If the caller's tokens are still valid
  /// and the service stays, upstream no longer allows it; otherwise the connection is about to be
  /// closed, and the client begins the operation again on its next one.
  private func refuse(_ number: UInt64, of caller: Caller) async throws(GraphQLRefusal) {
    guard !Task.isCancelled, !operations.operations.isDraining,
      (try? await operations.operations.watch(caller)) != nil
    else { return }
    throw GraphQLRefusal(
      Failure(.forbidden, "The operation has ended: the caller may no longer see its result."))
  }
}

/// Lets tasks send one after the other, in the order in which they came.
final class SendTurn: Sendable {
  private struct State {
    var isTaken = false
    /// At most one for each operation of a connection, and one for its reader.
    var waiting: [CheckedContinuation<Void, Never>] = []
  }

  private let state = Mutex(State())

  /// Waits for the turn, which ends with ``release()``.
  func take() async {
    await withCheckedContinuation { continuation in
      let isFree = state.withLock { state in
        guard state.isTaken else {
          state.isTaken = true
          return true
        }
        state.waiting.append(continuation)
        return false
      }
      if isFree { continuation.resume() }
    }
  }

  /// Takes the turn if no task has it.
  func takeNow() -> Bool {
    state.withLock { state in
      if state.isTaken { return false }
      state.isTaken = true
      return true
    }
  }

  func release() {
    let next = state.withLock { state -> CheckedContinuation<Void, Never>? in
      guard !state.waiting.isEmpty else {
        state.isTaken = false
        return nil
      }
      return state.waiting.removeFirst()
    }
    next?.resume()
  }
}
