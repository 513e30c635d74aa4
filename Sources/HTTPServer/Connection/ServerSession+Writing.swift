import HTTPWire
import Transport

extension ServerSession {
  /// Bytes gathered before they go out, also within one turn.
  static let outputBytesMax = 64 * 1024

  /// Appends the head of a handler's answer, and returns how its content is delimited.
  func appendHead(
    _ response: PreparedResponse, for request: ServerRequest, on reactor: isolated Reactor
  ) -> ResponseFraming {
    server.stamp.setTime(secondsSince1970: reactor.wallSeconds)
    let framing = ResponseFraming.choose(
      status: response.status, length: response.length, minorVersion: request.head.minorVersion)
    if framing == .untilClose { connection.stopPersisting() }
    ResponseHeadFields.append(
      response, requestID: request.id, stamp: server.stamp, to: &server.output)
    exchange?.rate?.append(to: &server.output)
    framing.append(to: &server.output)
    switch connection.connectionField {
    case .none: break
    case .close: server.output.append("Connection: close\r\n")
    case .keepAlive: server.output.append("Connection: keep-alive\r\n")
    }
    server.output.appendLineEnd()
    return framing
  }

  /// Appends content to what is gathered, or has large content go out without a copy.
  func append(_ bytes: [UInt8]) {
    guard bytes.count >= Self.copyBytesMax else {
      server.output.append(contentsOf: bytes)
      return
    }
    noteWriting()
    server.tally.bytesSent += server.output.count + bytes.count
    stream.write(server.output, bytes)
    server.output.removeAll(keepingCapacity: true)
    watchWriting()
  }

  /// Bytes from which on a vectored write is cheaper than a copy.
  private static var copyBytesMax: Int { 16 * 1024 }

  /// Has a stretch of a file sent behind what has been gathered.
  func write(_ file: OpenFile, _ range: Range<Int>) {
    flushOutput()
    noteWriting()
    stream.write(file, offset: range.lowerBound, count: range.count)
    server.tally.bytesSent += range.count
    watchWriting()
    isSendingFile = !stream.isFlushed
    if isSendingFile { askForDrained() }
  }

  func drained(_ stream: ByteStream, on reactor: isolated Reactor) {
    if isSendingFile {
      writePace?.advance(by: Self.fileBytesSeen, now: stream.now)
      isSendingFile = !stream.isFlushed
      if isSendingFile { return askForDrained() }
    }
    noteWriting()
    writer.take()?.resume()
    if exchange == nil, !isTakingIn { readOn(on: reactor) }
  }

  /// Stretches of files do not count towards the stream's watermarks. Writing nothing above a mark
  /// of less than nothing has it report the next time that the socket takes something.
  private func askForDrained() {
    let mark = stream.writeHighWatermark
    stream.writeHighWatermark = -1
    stream.write(UnsafeRawBufferPointer(start: nil, count: 0))
    stream.writeHighWatermark = mark
  }

  /// What is known to have gone when the socket takes more of a file: it says so once a good part
  /// of its buffer is free, and no buffer is smaller than this.
  private static var fileBytesSeen: Int { 16 * 1024 }

  /// Hands what has been gathered to the socket.
  func flushOutput() {
    guard !server.output.isEmpty else { return }
    noteWriting()
    server.tally.bytesSent += server.output.count
    server.output.withUnsafeBytes { stream.write($0) }
    server.output.removeAll(keepingCapacity: true)
    watchWriting()
  }
}
