package import Transport

/// One request as the access log sees it.
package struct AccessLogEntry: Sendable {
  /// `-` where the request could not be read so far.
  package var method: String
  /// Path and query; the value of `ticket`, which opens streams, is left out.
  package var target: String
  package var status: Int
  /// Bytes of the answer, head included, as handed to the socket.
  package var bytes: Int
  package var duration: Duration
  package var requestID: String
  package var remoteAddress: SocketAddress

  package init(
    method: String, target: String, status: Int, bytes: Int, duration: Duration,
    requestID: String, remoteAddress: SocketAddress
  ) {
    self.method = method
    self.target = target
    self.status = status
    self.bytes = bytes
    self.duration = duration
    self.requestID = requestID
    self.remoteAddress = remoteAddress
  }
}
