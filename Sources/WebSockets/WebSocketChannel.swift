import Synchronization
package import Transport
package import WebSocketWire

/// Handles a message on the connection's loop, and returns true, if it can without waiting; otherwise the
/// reader gets it. It is asked only while the reader waits for the next message, so that messages are
/// handled in their order. It sends by calling the closure that it is given, before it returns.
package typealias WebSocketImmediateHandler =
  @Sendable (_ message: WebSocketMessage, _ send: (WebSocketMessage) -> Void) -> Bool

/// A WebSocket connection as its user sees it, on any thread. The client's and the server's types for it
/// are thin wrappers.
package final class WebSocketChannel: Sendable {
  private let reactor: Reactor
  private let bound: LoopBound<WebSocketPump>
  private let inbox: WebSocketInbox
  private let lastWaiter = Atomic<UInt64>(0)

  /// Creates the channel of a stream whose handshake is done.
  ///
  /// - Parameter noteSent: called on the loop with the number of bytes of each write.
  package init(
    _ connection: consuming WebSocketConnection, stream: ByteStream, limits: WebSocketLimits,
    noteSent: @escaping (Int) -> Void = { _ in }, on reactor: isolated Reactor
  ) {
    self.reactor = reactor
    let pump = WebSocketPump(
      connection, stream: stream, limits: limits, noteSent: noteSent, on: reactor)
    inbox = pump.inbox
    bound = LoopBound(pump, on: reactor)
  }

  /// The connection on its loop.
  package func pump(on reactor: isolated Reactor) -> WebSocketPump { bound.get(on: reactor) }

  /// Sends a message, once there is room for it. Messages of one task are sent in order.
  ///
  /// - Throws: the end of the connection; ``WebSocketClose/cancelled`` if the task is cancelled while it
  ///   waits.
  package func send(_ message: WebSocketMessage) async throws(WebSocketClose) {
    while true {
      let outcome = await attempt(message)
      switch outcome {
      case .sent(let yields):
        if yields { await Task.yield() }
        return
      case .over(let close):
        throw close
      case .full:
        await waitForRoom()
        if Task.isCancelled { throw .cancelled }
      }
    }
  }

  /// Sends without a hop if the caller is on the connection's loop.
  private func attempt(_ message: WebSocketMessage) async -> WebSocketPump.Outcome {
    guard reactor.loop.isCurrent else { return await reactor.send(message, to: bound) }
    return attemptHere(message)
  }

  private func attemptHere(_ message: WebSocketMessage) -> WebSocketPump.Outcome {
    let bound = bound
    return reactor.assumeIsolated { bound.get(on: $0).send(message) }
  }

  private func waitForRoom() async {
    let id = lastWaiter.wrappingAdd(1, ordering: .relaxed).newValue
    let (reactor, bound) = (reactor, bound)
    await withTaskCancellationHandler {
      await reactor.waitForRoom(id, of: bound)
    } onCancel: {
      Task { await reactor.stopWaiting(id, of: bound) }
    }
  }

  /// Returns the next message. Supports one reader at a time.
  ///
  /// - Throws: the end of the connection, after the messages before it; ``WebSocketClose/cancelled`` if
  ///   the task is cancelled while it waits.
  package func next() async throws(WebSocketClose) -> WebSocketMessage {
    let (message, resumes) = try await inbox.next().get()
    if resumes { perform { $0.resume() } }
    return message
  }

  /// Sets what handles messages on the connection's loop, without a hop to the reader's task.
  package func handleNow(_ handler: @escaping WebSocketImmediateHandler) {
    perform { $0.setImmediateHandler(handler) }
  }

  /// Begins to close the connection and returns at once. Messages that wait for the reader are dropped.
  /// Does nothing if the connection is closing or closed.
  package func close(code: UInt16, reason: String) {
    perform { $0.close(WebSocketClose(code: code, reason: reason)) }
  }

  private func perform(_ action: @escaping @Sendable (WebSocketPump) -> Void) {
    let (reactor, bound) = (reactor, bound)
    if reactor.loop.isCurrent {
      reactor.assumeIsolated { action(bound.get(on: $0)) }
    } else {
      Task(executorPreference: reactor.loop) { await reactor.perform(action, on: bound) }
    }
  }
}

extension Reactor {
  fileprivate func send(
    _ message: WebSocketMessage, to bound: LoopBound<WebSocketPump>
  ) -> WebSocketPump.Outcome {
    bound.get(on: self).send(message)
  }

  fileprivate func waitForRoom(_ id: UInt64, of bound: LoopBound<WebSocketPump>) async {
    // A cancellation before this point found no waiter.
    if Task.isCancelled { return }
    await withCheckedContinuation { bound.get(on: self).wait(id, $0) }
  }

  fileprivate func stopWaiting(_ id: UInt64, of bound: LoopBound<WebSocketPump>) {
    bound.get(on: self).stopWaiting(id)
  }

  fileprivate func perform(
    _ action: @Sendable (WebSocketPump) -> Void, on bound: LoopBound<WebSocketPump>
  ) {
    action(bound.get(on: self))
  }
}
