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
    stream.write(file, offset: range.lowerBound, count: range.count)
    server.tally.bytesSent += range.count
    watchWriting()
  }

  func drained(_ stream: ByteStream, on reactor: isolated Reactor) {
    writer.take()?.resume()
    if exchange == nil, !isTakingIn { readOn(on: reactor) }
  }

  /// Hands what has been gathered to the socket.
  func flushOutput() {
    guard !server.output.isEmpty else { return }
    server.tally.bytesSent += server.output.count
    server.output.withUnsafeBytes { stream.write($0) }
    server.output.removeAll(keepingCapacity: true)
    watchWriting()
  }
}
