import CLinux
import Glibc

extension ByteStream {
  /// Stops calls of `received` until `resumeReading()`. The kernel's buffer fills, and then the peer
  /// waits.
  package func pauseReading() {
    isReadingPaused = true
  }

  /// Resumes the delivery of bytes, from the next turn on.
  package func resumeReading() {
    guard isReadingPaused else { return }
    isReadingPaused = false
    if hasUnread || tls?.hasBufferedInput == true { continueLater() }
  }

  func continueLater() {
    if let token { core.continueLater(token) }
  }

  /// Reads until the kernel has no more, reading is paused, or this turn's share is used.
  func readAvailable(on reactor: isolated Reactor) {
    hasUnread = true
    if deliverBufferedInput(on: reactor) == false { return }
    for _ in 0..<Self.readsPerTurnMax {
      guard isReading else { return }
      let room = min(readBytesMax, core.scratch.count)
      let count = larder_recv(descriptor, core.scratch.baseAddress, room)
      if count < 0 {
        if errno == EINTR { continue }
        hasUnread = false
        if errno != EAGAIN { end(.from(SystemError("recv"))) }
        return
      }
      if count == 0 {
        hasUnread = false
        return inputEnded(on: reactor)
      }
      take(UnsafeRawBufferPointer(rebasing: core.scratch[..<count]), on: reactor)
      // Edge-triggered: a short read has emptied the socket, and more will be an edge of its own,
      // except for an end that the kernel has already reported.
      if count < room, !isEnding {
        hasUnread = false
        return
      }
    }
    if isReading { continueLater() }
  }

  private var isReading: Bool {
    guard !isReadingPaused, !hasReachedEnd else { return false }
    return phase == .open || phase == .handshaking
  }

  private func take(_ bytes: UnsafeRawBufferPointer, on reactor: isolated Reactor) {
    guard let tls else {
      delegate?.received(bytes, from: self, on: reactor)
      return
    }
    if phase == .handshaking, handshakeBytes == 0, let server = tls.server,
      Self.beginsPlainRequest(bytes)
    {
      respondInPlain(server.plainHTTPResponse)
      return end(.tls(.plainHTTP))
    }
    tls.feed(bytes)
    if phase == .handshaking {
      handshakeBytes += bytes.count
      guard advanceHandshake(on: reactor) else { return endOverlongHandshake() }
    }
    _ = deliverBufferedInput(on: reactor)
  }

  /// Delivers the bytes that TLS can decrypt. Returns false when the stream accepts no more for now.
  private func deliverBufferedInput(on reactor: isolated Reactor) -> Bool {
    guard let tls, phase == .open else { return isReading }
    while isReading {
      let room = min(readBytesMax, core.plainScratch.count)
      switch tls.read(into: UnsafeMutableRawBufferPointer(rebasing: core.plainScratch[..<room])) {
      case .bytes(let count):
        let bytes = UnsafeRawBufferPointer(rebasing: core.plainScratch[..<count])
        delegate?.received(bytes, from: self, on: reactor)
      case .needsMore:
        sendRecords()  // a key update may have produced a reply
        guard output.byteCount <= 2 * writeHighWatermark else {
          // Replies of TLS itself, to a peer that requests them endlessly and reads none.
          end(.tls(.record("the peer does not read TLS replies")))
          return false
        }
        return isReading
      case .ended:
        announceInputEnd(clean: true, on: reactor)
        return false
      case .failed(let failure):
        sendRecords()
        end(.tls(failure))
        return false
      }
    }
    return false
  }

  /// Continues the handshake. Returns true once it is done.
  func advanceHandshake(on reactor: isolated Reactor) -> Bool {
    guard let tls else { return true }
    let step = tls.handshake()
    sendRecords()  // also after a failure: the alert tells the peer why
    switch step {
    case .needsMore:
      return false
    case .failed(let failure):
      end(.tls(failure))
      return false
    case .done:
      guard phase == .handshaking else { return false }
      becomeOpen()
      delegate?.opened(self, on: reactor)
      if phase == .open || phase == .closing { pumpPlainOutput() }
      return phase == .open
    }
  }

  /// Returns whether the bytes are a plain HTTP request. A TLS record begins with its type, 20 to 24, and
  /// an SSL 2 hello with a byte above 127: a capital letter begins a method.
  private static func beginsPlainRequest(_ bytes: UnsafeRawBufferPointer) -> Bool {
    bytes.first.map { (0x41...0x5A).contains($0) } ?? false
  }

  /// Ends a handshake whose client part is too long: OpenSSL buffers a hello of up to 128 KB, and a
  /// client can begin one on each connection.
  private func endOverlongHandshake() {
    guard phase == .handshaking, tls?.server != nil,
      handshakeBytes > Self.clientHandshakeBytesMax
    else { return }
    end(.tls(.handshake("the client sent too many bytes")))
  }

  private func inputEnded(on reactor: isolated Reactor) {
    if phase == .handshaking {
      end(.tls(.closedInHandshake))
    } else {
      announceInputEnd(clean: tls == nil, on: reactor)
    }
  }

  private func announceInputEnd(clean: Bool, on reactor: isolated Reactor) {
    guard !hasReachedEnd else { return }
    hasReachedEnd = true
    endedCleanly = clean
    delegate?.reachedEnd(of: self, on: reactor)
  }
}
