import HTTPWire
import Transport

extension ServerSession {
  /// How often the progress of a slow client is checked.
  private static var writeCheckInterval: Duration { .seconds(1) }
  /// The time after which a closing connection is reset and its unsent bytes are lost.
  private static var closingDeadline: Duration { .seconds(10) }

  /// Sets the timer to the earliest deadline.
  func armTimer() {
    var next = readDeadline ?? .distantFuture
    if let bodyPace, bodyHeldSince == nil { next = min(next, bodyPace.deadline) }
    if let writePace, !stream.isFlushed {
      next = min(next, writePace.deadline, stream.now + Self.writeCheckInterval)
    }
    guard next != .distantFuture else { return }
    timer?.set(next)
  }

  func timerFired(_ timer: LoopTimer, on reactor: isolated Reactor) {
    if checkWriting() { return stream.reset() }
    if let deadline = readDeadline, deadline <= reactor.now {
      readDeadline = nil
      readingIsLate(on: reactor)
    } else if let bodyPace, bodyHeldSince == nil, bodyPace.deadline <= reactor.now {
      self.bodyPace = nil
      inputIsLate(on: reactor)
    }
    if stream.isOpen { armTimer() }
  }

  private func readingIsLate(on reactor: isolated Reactor) {
    if !stream.isOpen { return stream.reset() }
    if connection.isIdle, !stream.isFlushed {
      // Not idle: the last response is being sent, and its pace is watched.
      readDeadline = reactor.now + limits.idleDeadline
      return
    }
    if connection.isLingering {
      // The last response is still being sent; the writing pace bounds that.
      guard stream.isFlushed else {
        readDeadline = reactor.now + Self.writeCheckInterval
        return
      }
      stream.close()
      return watchClosing()
    }
    if server.isDraining, connection.isIdle {
      // Half-closed, not closed: a request may be on its way, and a reset would look like an error.
      return responseIsOut(on: reactor)
    }
    if connection.awaitsContent, exchange == nil || exchange?.pendingResponse != nil {
      return drainingIsLate(on: reactor)
    }
    inputIsLate(on: reactor)
  }

  private func drainingIsLate(on reactor: isolated Reactor) {
    drainDeadline = nil
    connection.giveUpDraining()
    if let response = exchange?.pendingResponse.take() {
      send(response, on: reactor)
    } else {
      responseIsOut(on: reactor)
    }
  }

  /// Handles a head or body that has not arrived in time, or a connection that sent nothing.
  private func inputIsLate(on reactor: isolated Reactor) {
    switch connection.timedOut() {
    case .refuse(let error):
      refuse(error, on: reactor)
    default:
      exchange?.channel?.finish(.disconnected)
      exchange?.task?.cancel()
      stream.close()
      watchClosing()
    }
  }

  /// Watches the client's pace while unsent bytes wait. Call it after writing.
  func watchWriting() {
    if stream.isFlushed {
      writePace?.pause(from: stream.now)
    } else if writePace == nil {
      writePace = .reading(
        limits, stallMax: exchange?.eventStallMax, unseenBytes: stream.acknowledgementLagBytes,
        from: stream.now)
      bytesTaken = stream.acknowledgedBytes
      armTimer()
    } else if writePace?.isPaused == true {
      writePace?.resume(at: stream.now)
      armTimer()
    }
  }

  /// Checks how much the client has read. Returns whether it is too slow.
  private func checkWriting() -> Bool {
    guard var pace = writePace, !pace.isPaused else { return false }
    let taken = stream.acknowledgedBytes
    pace.advance(by: taken - bytesTaken, now: stream.now)
    bytesTaken = max(bytesTaken, taken)
    if stream.isFlushed { pace.pause(from: stream.now) }
    writePace = pace
    return pace.deadline <= stream.now
  }

  /// Resets the stream if unsent bytes delay its closing for too long.
  func watchClosing() {
    readDeadline = stream.now + Self.closingDeadline
    timer?.set(stream.now + Self.closingDeadline)
  }
}
