import HTTPWire
import Transport

extension ServerSession {
  /// How often a slow taker is looked at.
  private static var writeCheckInterval: Duration { .seconds(1) }
  /// Until a connection that is being closed is cut off with what is unsent.
  private static var closingDeadline: Duration { .seconds(10) }

  /// Sets the timer for the earliest thing that is waited for.
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
      // Not idle at all: the last answer is on its way, and its pace is watched.
      readDeadline = reactor.now + limits.idleDeadline
      return
    }
    if connection.isLingering {
      // The last answer is still on its way; the pace of writing bounds that.
      guard stream.isFlushed else {
        readDeadline = reactor.now + Self.writeCheckInterval
        return
      }
      stream.close()
      return watchClosing()
    }
    if server.isDraining, connection.isIdle {
      // Half-closed, not closed: a request may be on its way, and a reset would look like an error.
      return answerIsOut(on: reactor)
    }
    if connection.awaitsContent, exchange == nil || exchange?.waitingAnswer != nil {
      return drainingIsLate(on: reactor)
    }
    inputIsLate(on: reactor)
  }

  private func drainingIsLate(on reactor: isolated Reactor) {
    drainDeadline = nil
    connection.giveUpDraining()
    if let answer = exchange?.waitingAnswer.take() {
      send(answer, on: reactor)
    } else {
      answerIsOut(on: reactor)
    }
  }

  /// A head or a body has not come in time, or nothing at all has.
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

  /// To be called after writing: has the client's pace watched while anything waits for it.
  func watchWriting() {
    if stream.isFlushed {
      writePace?.rest(from: stream.now)
    } else if writePace == nil {
      writePace = .taking(
        limits, stallMax: exchange?.writeStallMax, unseenBytes: stream.acknowledgementLagBytes,
        from: stream.now)
      bytesTaken = stream.acknowledgedBytes
      armTimer()
    } else if writePace?.isResting == true {
      writePace?.goOn(at: stream.now)
      armTimer()
    }
  }

  /// Looks at what the client has taken. Returns whether it is too slow.
  private func checkWriting() -> Bool {
    guard var pace = writePace, !pace.isResting else { return false }
    let taken = stream.acknowledgedBytes
    pace.advance(by: taken - bytesTaken, now: stream.now)
    bytesTaken = max(bytesTaken, taken)
    if stream.isFlushed { pace.rest(from: stream.now) }
    writePace = pace
    return pace.deadline <= stream.now
  }

  /// Has the stream cut off if what is unsent holds up its closing.
  func watchClosing() {
    readDeadline = stream.now + Self.closingDeadline
    timer?.set(stream.now + Self.closingDeadline)
  }
}
