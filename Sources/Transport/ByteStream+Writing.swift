import CLinux
import Glibc

extension ByteStream {
  /// Writes at once what the kernel accepts and keeps a copy of the rest. Does nothing on a stream that
  /// is closing or closed.
  package func write(_ bytes: UnsafeRawBufferPointer) {
    guard acceptsWrites else { return }
    if tls != nil || phase == .connecting {
      plainOutput.append(bytes)
      pumpPlainOutput()
    } else if output.isEmpty {
      let sent = send(bytes)
      guard phase != .closed, writeFailure == nil else { return }
      output.append(UnsafeRawBufferPointer(rebasing: bytes[sent...]))
    } else {
      output.append(bytes)
    }
    noteBackedUp()
  }

  /// Writes bytes; the rest that the kernel does not accept is kept without a copy.
  package func write(_ bytes: [UInt8]) {
    guard acceptsWrites else { return }
    if tls != nil || phase == .connecting {
      plainOutput.append(bytes, from: 0)
      pumpPlainOutput()
    } else {
      let sent = output.isEmpty ? bytes.withUnsafeBytes { send($0) } : 0
      guard phase != .closed, writeFailure == nil else { return }
      output.append(bytes, from: sent)
    }
    noteBackedUp()
  }

  /// Writes a head and a body in one call to the kernel, without joining them first.
  package func write(_ head: [UInt8], _ body: [UInt8]) {
    guard tls == nil, phase == .open, acceptsWrites, output.isEmpty else {
      write(head)
      write(body)
      return
    }
    let sent = head.withUnsafeBytes { head in body.withUnsafeBytes { send(head, $0) } }
    guard phase != .closed, writeFailure == nil else { return }
    output.append(head, from: sent)
    output.append(body, from: max(0, sent - head.count))
    noteBackedUp()
  }

  /// Writes `count` bytes of a file, by sendfile on plain streams. A file that is
  /// not sent at once leaves the stream `isBackedUp`.
  package func write(_ file: OpenFile, offset: Int, count: Int) {
    guard acceptsWrites else { return }
    if tls != nil || phase == .connecting {
      plainOutput.append(file, offset: offset, count: count)
      pumpPlainOutput()
    } else {
      output.append(file, offset: offset, count: count)
      flush()
    }
    noteBackedUp()
  }

  /// Sends waiting output, as far as the kernel accepts it. A turn sends a bounded part of a file.
  func flush() {
    var budget = Self.flushBytesPerTurnMax
    while !isFull, let head = output.head, phase != .closed, writeFailure == nil {
      guard budget > 0 else { return continueLater() }
      let wanted: Int
      let sent: Int
      switch head {
      case .bytes(let bytes, let start):
        wanted = bytes.count - start
        sent = bytes.withUnsafeBytes { send(UnsafeRawBufferPointer(rebasing: $0[start...])) }
      case .file(let file, let offset, let count):
        wanted = min(count, budget)
        sent = send(file, offset: offset, count: wanted)
      }
      guard phase != .closed, writeFailure == nil else { return }
      output.consume(sent)
      budget -= sent
      if sent < wanted { isFull = true }
    }
  }

  /// The bytes that one stream sends in a turn before other streams continue.
  private static var flushBytesPerTurnMax: Int { 2 * 1024 * 1024 }

  private func noteBackedUp() {
    if unsentBytes > writeHighWatermark || hasFileWaiting { isBackedUp = true }
  }

  var hasFileWaiting: Bool {
    output.fileCount > 0 || plainOutput.fileCount > 0
  }
}

extension ByteStream {
  /// Encrypts the output that waits for TLS, as long as encrypted records do not pile up.
  func pumpPlainOutput() {
    guard phase == .open || phase == .closing else { return }
    guard let tls else { return moveToOutput() }
    var budget = Self.flushBytesPerTurnMax
    while output.byteCount < writeHighWatermark, let head = plainOutput.head {
      guard budget > 0 else { return continueLater() }
      let taken: TLSSession.WriteResult
      switch head {
      case .bytes(let bytes, let start):
        taken = bytes.withUnsafeBytes { bytes in
          let end = min(bytes.count, start + core.outScratch.count)
          return tls.write(UnsafeRawBufferPointer(rebasing: bytes[start..<end]))
        }
      case .file(let file, let offset, let count):
        let space = UnsafeMutableRawBufferPointer(
          rebasing: core.outScratch[..<min(count, core.outScratch.count)])
        let got = file.read(into: space, from: offset)
        // A file that shrank cannot be completed: the stream must not end as if it were.
        guard got > 0 else {
          return end(.failed(SystemError("pread", code: got < 0 ? errno : EIO)))
        }
        taken = tls.write(UnsafeRawBufferPointer(rebasing: space[..<got]))
      }
      switch taken {
      case .bytes(let count):
        plainOutput.consume(count)
        budget -= count
        sendRecords()
        if phase == .closed || writeFailure != nil { return }
      case .failed(let failure):
        sendRecords()
        return end(.tls(failure))
      }
    }
  }

  /// Moves the output written before a plain stream was connected.
  private func moveToOutput() {
    while let head = plainOutput.head {
      switch head {
      case .bytes(let bytes, let start):
        output.append(bytes, from: start)
        plainOutput.consume(bytes.count - start)
      case .file(let file, let offset, let count):
        output.append(file, offset: offset, count: count)
        plainOutput.consume(count)
      }
    }
    flush()
  }

  /// Sends a plain response to a client without TLS, as far as the kernel accepts it: the stream ends
  /// after this.
  func respondInPlain(_ response: [UInt8]) {
    guard output.isEmpty else { return }
    _ = response.withUnsafeBytes { send($0) }
    if phase != .closed { shutdown(descriptor, Int32(SHUT_WR)) }
  }

  /// Sends the records TLS has ready.
  func sendRecords() {
    guard let tls, phase != .closed, writeFailure == nil else { return }
    while true {
      let count = tls.takeRecords(into: core.outScratch)
      guard count > 0 else { return }
      let records = UnsafeRawBufferPointer(rebasing: core.outScratch[..<count])
      let sent = output.isEmpty ? send(records) : 0
      guard phase != .closed, writeFailure == nil else { return }
      output.append(UnsafeRawBufferPointer(rebasing: records[sent...]))
    }
  }
}

extension ByteStream {
  /// Writes to the kernel once. Returns the accepted bytes; a failure ends the stream.
  private func send(_ bytes: UnsafeRawBufferPointer) -> Int {
    guard !bytes.isEmpty, descriptor >= 0, writeFailure == nil else { return 0 }
    while true {
      let sent = larder_send(descriptor, bytes.baseAddress, bytes.count)
      if sent >= 0 { return noteSent(sent) }
      if let result = bytesTaken(afterFailing: "send") { return result }
    }
  }

  private func send(_ head: UnsafeRawBufferPointer, _ body: UnsafeRawBufferPointer) -> Int {
    var parts = (
      iovec(iov_base: UnsafeMutableRawPointer(mutating: head.baseAddress), iov_len: head.count),
      iovec(iov_base: UnsafeMutableRawPointer(mutating: body.baseAddress), iov_len: body.count)
    )
    return withUnsafeMutablePointer(to: &parts) { parts in
      parts.withMemoryRebound(to: iovec.self, capacity: 2) { parts in
        var message = msghdr()
        message.msg_iov = parts
        message.msg_iovlen = 2
        while true {
          let sent = sendmsg(descriptor, &message, Int32(MSG_NOSIGNAL))
          if sent >= 0 { return noteSent(sent) }
          if let result = bytesTaken(afterFailing: "sendmsg") { return result }
        }
      }
    }
  }

  private func send(_ file: OpenFile, offset: Int, count: Int) -> Int {
    var position = offset
    while true {
      let sent = sendfile(descriptor, file.descriptor.number, &position, count)
      if sent > 0 { return noteSent(sent) }
      if sent == 0 {
        end(.failed(SystemError("sendfile", code: EIO)))  // the file shrank
        return 0
      }
      if let result = bytesTaken(afterFailing: "sendfile") { return result }
    }
  }

  private func noteSent(_ count: Int) -> Int {
    handedOver += count
    return count
  }

  /// Handles a failed write. Returns nil to try again, otherwise 0: the stream is then full or has
  /// ended.
  private func bytesTaken(afterFailing call: StaticString) -> Int? {
    let error = SystemError(call)
    if error.code == EINTR { return nil }
    if error.code != EAGAIN { writingFailed(.from(error)) }
    return 0
  }

  /// Ends the stream after a failed write, but only after one more read: the reset of a peer that
  /// responds early and closes, as when it refuses an upload, can overtake the response.
  private func writingFailed(_ reason: CloseReason) {
    guard phase == .open else { return end(reason) }
    writeFailure = reason
    output.removeAll()
    plainOutput.removeAll()
    continueLater()
  }
}
