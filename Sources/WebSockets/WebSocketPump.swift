package import Transport
package import WebSocketWire

/// One open WebSocket connection on its loop: performs what ``WebSocketConnection`` decides, on a stream
/// whose delegate passes its callbacks on.
///
/// It is accessed only on its loop. Memory is bounded: received messages by the inbox, beyond which the
/// socket is not read; unsent bytes by the stream's watermark, beyond which senders wait; pongs by
/// answering only the latest ping while the peer does not read.
package final class WebSocketPump: TimerDelegate {
  /// Bytes that one sender on the loop sends before it lets others run.
  private static let unyieldedBytesMax = 256 * 1024
  /// Messages of one read that are handled on the loop without letting others run.
  private static let immediateMax = 64
  /// How often the progress of a slow peer is checked.
  private static let paceInterval: Duration = .seconds(1)

  let inbox: WebSocketInbox
  /// Handles messages without waiting, while the reader has taken and handled all before them.
  private var immediateHandler: WebSocketImmediateHandler?
  private var immediateCount = 0
  private let stream: ByteStream
  private let limits: WebSocketLimits
  private let noteSent: (Int) -> Void
  private var connection: WebSocketConnection
  /// Bytes that were read and not decoded, since the inbox is full.
  private var kept: [UInt8] = []
  private var isHeld = false
  private var end: WebSocketClose?
  /// The answer to the latest ping, while earlier bytes are unsent.
  private var pendingPong: [UInt8]?
  private var waiters: [UInt64: CheckedContinuation<Void, Never>] = [:]
  private var unyieldedBytes = 0
  private var droppedBytes = 0
  private var keepAlive: WebSocketKeepAlive
  /// Bytes that the peer had acknowledged when it was last checked for life.
  private var bytesAtPing = 0
  private var pace: WebSocketSendPace?
  private var closeDeadline: LoopInstant?
  private var timer: LoopTimer?

  /// - Parameter noteSent: called with the number of bytes of each write.
  init(
    _ connection: consuming WebSocketConnection, stream: ByteStream, limits: WebSocketLimits,
    noteSent: @escaping (Int) -> Void, on reactor: isolated Reactor
  ) {
    self.connection = connection
    self.stream = stream
    self.limits = limits
    self.noteSent = noteSent
    inbox = WebSocketInbox(limits)
    keepAlive = WebSocketKeepAlive(
      interval: limits.pingInterval, timeout: limits.pongTimeout, at: reactor.now)
    stream.writeHighWatermark = limits.outgoingBytesMax
    stream.writeLowWatermark = limits.outgoingBytesMax / 4
    timer = LoopTimer(delegate: self, on: reactor)
    armTimer()
  }

  // MARK: Input

  package func received(_ bytes: UnsafeRawBufferPointer) {
    keepAlive.heard()
    immediateCount = 0
    if kept.isEmpty {
      takeIn(bytes)
    } else {
      kept.append(contentsOf: bytes)
      takeInKept()
    }
    armTimer()
  }

  package func reachedEnd() {
    if end == nil { finish(.lost("the peer disconnected without a close frame")) }
    connection.end()
    stream.close()
    closeDeadline = closeDeadline ?? stream.now + limits.closeTimeout
    armTimer()
  }

  package func drained() {
    if let payload = pendingPong.take() { write(connection.pong(payload)) }
    if stream.isFlushed { pace = nil }
    wakeWaiters()
  }

  /// Handles the end of the stream, after which nothing more is called.
  package func closed(_ reason: CloseReason) {
    timer?.cancel()
    timer = nil
    connection.end()
    kept = []
    // It may hold the connection.
    immediateHandler = nil
    finish(.lost("the connection was lost: \(reason)"))
    wakeWaiters()
  }

  /// Resumes reading: the reader has caught up.
  func resume() {
    guard isHeld, stream.isOpen else { return }
    isHeld = false
    keepAlive.resume(at: stream.now)
    takeInKept()
    if !isHeld { stream.resumeReading() }
    armTimer()
  }

  private func takeInKept() {
    let input = kept
    kept = []
    input.withUnsafeBytes { takeIn($0) }
  }

  private func takeIn(_ input: UnsafeRawBufferPointer) {
    var offset = 0
    while stream.isOpen, !isHeld {
      let before = offset
      switch connection.next(input, from: &offset) {
      case .needMore:
        return
      case .message(let message):
        if !handleNow(message), inbox.offer(message) { hold() }
      case .ping(let payload):
        answer(payload)
      case .pong:
        break
      case .closed(let close, let reply):
        write(reply)
        finish(close)
        endAfterClose()
      case .failed(let fault, let frame):
        write(frame)
        finish(fault.close)
        linger()
      case .ignored:
        drop(offset - before)
      }
    }
    if stream.isOpen, offset < input.count { kept = Array(input[offset...]) }
  }

  /// Returns whether the message was handled.
  private func handleNow(_ message: WebSocketMessage) -> Bool {
    guard let immediateHandler, immediateCount < Self.immediateMax, !stream.isBackedUp,
      inbox.isReaderWaiting
    else { return false }
    immediateCount += 1
    return immediateHandler(message) { [self] in _ = send($0) }
  }

  func setImmediateHandler(_ handler: @escaping WebSocketImmediateHandler) {
    if stream.isOpen { immediateHandler = handler }
  }

  private func hold() {
    isHeld = true
    stream.pauseReading()
    keepAlive.pause(at: stream.now)
  }

  private func answer(_ payload: [UInt8]) {
    if stream.isBackedUp {
      pendingPong = payload
    } else {
      write(connection.pong(payload))
    }
  }

  private func drop(_ count: Int) {
    droppedBytes += count
    if droppedBytes > limits.lingerBytesMax { reset() }
  }
}

// MARK: Output

extension WebSocketPump {
  /// The result of an attempt to send.
  enum Outcome: Sendable {
    /// - Parameter yields: whether the sender must let others run.
    case sent(yields: Bool)
    /// Too many bytes wait for the peer.
    case full
    case over(WebSocketClose)
  }

  func send(_ message: WebSocketMessage) -> Outcome {
    guard connection.isOpen, stream.acceptsWrites else {
      return .over(end ?? .lost("the connection was lost"))
    }
    guard !stream.isBackedUp else { return .full }
    guard let output = connection.frame(of: message) else {
      return .over(end ?? .lost("the connection was lost"))
    }
    stream.write(output.head, output.payload)
    noteWritten(output.count)
    unyieldedBytes += output.count
    guard unyieldedBytes >= Self.unyieldedBytesMax else { return .sent(yields: false) }
    unyieldedBytes = 0
    return .sent(yields: true)
  }

  /// Begins to close, unless closing has begun.
  package func close(_ close: WebSocketClose) {
    guard connection.isOpen else { return }
    write(connection.close(close))
    finish(close, dropsWaiting: true)
    closeDeadline = stream.now + limits.closeTimeout
    letGo()
    armTimer()
  }

  /// Registers a sender that waits for room.
  func wait(_ id: UInt64, _ continuation: CheckedContinuation<Void, Never>) {
    guard connection.isOpen, stream.isBackedUp, stream.acceptsWrites else {
      return continuation.resume()
    }
    waiters[id] = continuation
  }

  func stopWaiting(_ id: UInt64) {
    waiters.removeValue(forKey: id)?.resume()
  }

  private func wakeWaiters() {
    let woken = waiters
    waiters = [:]
    for waiter in woken.values { waiter.resume() }
  }

  private func write(_ frame: [UInt8]?) {
    guard let frame else { return }
    stream.write(frame)
    noteWritten(frame.count)
  }

  private func noteWritten(_ count: Int) {
    noteSent(count)
    guard !stream.isFlushed, pace == nil else { return }
    pace = WebSocketSendPace(bytes: stream.acknowledgedBytes, at: stream.now)
    armTimer()
  }

  private func finish(_ close: WebSocketClose, dropsWaiting: Bool = false) {
    if end == nil { end = close }
    inbox.finish(close, dropsWaiting: dropsWaiting)
    wakeWaiters()
  }

  /// Reads on although the reader is slow: no more messages are kept, and the peer's close frame is awaited.
  private func letGo() {
    guard isHeld else { return }
    isHeld = false
    keepAlive.resume(at: stream.now)
    takeInKept()
    stream.resumeReading()
  }

  /// Ends the stream after both close frames. The server closes first (RFC 6455 section 7.1.1).
  private func endAfterClose() {
    closeDeadline = stream.now + limits.closeTimeout
    if connection.role == .server { stream.close() } else { stream.shutDownWriting() }
    armTimer()
  }

  /// Closes the sending side and drops what the peer still sends, so that the close frame arrives.
  private func linger() {
    closeDeadline = stream.now + limits.closeTimeout
    stream.shutDownWriting()
    armTimer()
  }
}

// MARK: Deadlines

extension WebSocketPump {
  private func armTimer() {
    guard let timer else { return }
    var next = closeDeadline ?? keepAlive.deadline
    if pace != nil { next = min(next, stream.now + Self.paceInterval) }
    guard next != .distantFuture else { return }
    timer.set(next)
  }

  package func timerFired(_ timer: LoopTimer, on reactor: isolated Reactor) {
    if let closeDeadline {
      if closeDeadline <= reactor.now { return reset() }
    } else {
      checkLife(at: reactor.now)
    }
    if checkPace(at: reactor.now) {
      finish(.lost("the peer does not read what is sent to it"))
      return reset()
    }
    armTimer()
  }

  /// Resets the stream. The timer ends with it: a deadline that has passed would fire again in this turn.
  private func reset() {
    timer?.cancel()
    timer = nil
    stream.reset()
  }

  private func checkLife(at now: LoopInstant) {
    switch keepAlive.advance(to: now) {
    case .none:
      break
    case .ping:
      bytesAtPing = stream.acknowledgedBytes
      write(connection.ping())
    case .lost:
      let bytes = stream.acknowledgedBytes
      // The ping may wait behind bytes that a slow peer is still reading.
      if bytes > bytesAtPing, stream.unacknowledgedBytes > 0 {
        bytesAtPing = bytes
        return keepAlive.extend(at: now)
      }
      finish(.lost("the peer did not answer a ping in time"))
      reset()
    }
  }

  /// Returns whether the peer reads too slowly.
  private func checkPace(at now: LoopInstant) -> Bool {
    guard var pace else { return false }
    if stream.isFlushed {
      self.pace = nil
      return false
    }
    defer { self.pace = pace }
    return pace.isTooSlow(
      bytes: stream.acknowledgedBytes, at: now, stallMax: limits.sendStallMax,
      bytesPerSecondMin: limits.sendBytesPerSecondMin)
  }
}
