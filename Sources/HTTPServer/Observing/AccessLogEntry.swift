package import HTTPWire
package import Transport

/// One request as the access log sees it. Lent for one call: the slices show the loop's buffers.
package struct AccessLogEntry: ~Copyable {
  /// Nil where the request could not be read so far.
  package let method: RequestMethod?
  /// Path and query as they were sent; empty where they could not be read. May hold secrets: see
  /// ``LoggedTarget``.
  package let target: ArraySlice<UInt8>
  package let status: Int
  /// Bytes of the answer, head included, as handed to the socket.
  package let bytes: Int
  /// From the turn that saw the request's head to the end of its answer.
  package let duration: Duration
  package let requestID: ArraySlice<UInt8>
  /// Who asked: the peer, or whom a trusted proxy names.
  package let remoteAddress: SocketAddress
  /// When it was answered.
  package let date: HTTPDate

  package init(
    method: RequestMethod?, target: ArraySlice<UInt8>, status: Int, bytes: Int, duration: Duration,
    requestID: ArraySlice<UInt8>, remoteAddress: SocketAddress, date: HTTPDate
  ) {
    self.method = method
    self.target = target
    self.status = status
    self.bytes = bytes
    self.duration = duration
    self.requestID = requestID
    self.remoteAddress = remoteAddress
    self.date = date
  }
}
