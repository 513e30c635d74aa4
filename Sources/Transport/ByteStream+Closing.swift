import CLinux
import Glibc

extension ByteStream {
  /// Closes once the kernel has accepted everything written. Nothing more is read. A peer that does not
  /// read can delay this: the caller must keep a deadline and then call `reset()`.
  package func close() {
    guard isOpen else { return }
    if phase != .open {
      return end(.closedHere)
    }
    if writeFailure != nil { return end(.closedHere) }
    phase = .closing
    finishWritingIfFlushed()
  }

  /// Closes the sending side once the kernel has accepted everything written; reading continues.
  package func shutDownWriting() {
    guard isOpen, !shouldShutDownWriting else { return }
    shouldShutDownWriting = true
    finishWritingIfFlushed()
  }

  /// Closes at once with a reset. Unsent bytes are lost.
  package func reset() {
    guard phase != .closed else { return }
    if descriptor >= 0 { Socket.closeResets(descriptor) }
    end(.resetHere)
  }

  /// Performs the steps that waited until all output was written.
  func finishWritingIfFlushed() {
    guard isFlushed, writeFailure == nil, phase == .open || phase == .closing else { return }
    if phase == .closing || shouldShutDownWriting, !hasShutDownWriting {
      hasShutDownWriting = true
      tls?.sendClosingAlert()
      sendRecords()
      guard output.isEmpty, phase != .closed else {
        hasShutDownWriting = false
        return
      }
      shutdown(descriptor, Int32(SHUT_WR))
    }
    if phase == .closing { end(.closedHere) }
  }

  /// Closes the descriptor now and notifies the delegate at the end of the turn.
  func end(_ reason: CloseReason) {
    guard phase != .closed else { return }
    phase = .closed
    self.reason = reason
    connector?.cancel()
    connector = nil
    releaseDescriptor()
    output.removeAll()
    plainOutput.removeAll()
    core.announceEnd(of: self)
  }

  func releaseDescriptor() {
    if let token { core.slots.remove(token) }
    token = nil
    if descriptor >= 0 { Glibc.close(descriptor) }
    descriptor = -1
  }

  func announceEnd(on reactor: isolated Reactor) {
    guard let delegate = delegate.take() else { return }
    tls = nil
    delegate.closed(self, reason: reason ?? .closedHere, on: reactor)
  }
}

extension ByteStream: EventReceiver {
  func receive(_ readiness: Readiness, on reactor: isolated Reactor) {
    if phase == .connecting {
      connector?.socketIsReady(on: reactor)
      return
    }
    if readiness.isEnding { isEnding = true }
    if let writeFailure {
      readAvailable(on: reactor)
      return end(writeFailure)
    }
    if !readiness.isLeftOver { isFull = isFull && !readiness.isWritable }
    if readiness.isWritable, !output.isEmpty || !plainOutput.isEmpty { makeRoom(on: reactor) }
    if phase == .closing, readiness.hasError { end(.from(pendingError)) }
    guard readiness.isReadable, phase != .closed else { return }
    if isReadingPaused, readiness.hasError { return end(.from(pendingError)) }
    readAvailable(on: reactor)
  }

  func loopStops() {
    end(.loopStopped)
  }

  private var pendingError: SystemError {
    let code = Socket.pendingError(of: descriptor)
    return SystemError("epoll_wait", code: code == 0 ? ECONNRESET : code)
  }

  private func makeRoom(on reactor: isolated Reactor) {
    flush()
    pumpPlainOutput()
    guard phase != .closed else { return }
    finishWritingIfFlushed()
    if isBackedUp, unsentBytes <= writeLowWatermark, !hasFileWaiting, phase == .open {
      isBackedUp = false
      delegate?.drained(self, on: reactor)
    }
  }
}
