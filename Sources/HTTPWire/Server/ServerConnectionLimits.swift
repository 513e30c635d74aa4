/// The bounds of a server connection that count bytes; those that count time are the server's.
package struct ServerConnectionLimits: Sendable, Equatable {
  package var head: HeadLimits
  package var body: BodyLimits
  /// Bytes of a body nobody wants that are read and dropped to keep the connection. Beyond it, a
  /// new connection is cheaper than the rest of the body.
  package var drainBytesMax: Int
  /// Bytes read and dropped behind the last answer before the socket is closed, so that the answer
  /// is not lost to a reset.
  package var lingerBytesMax: Int
  /// Requests served on one connection.
  package var requestsMax: Int

  package init(
    head: HeadLimits = .request, body: BodyLimits = BodyLimits(),
    drainBytesMax: Int = 256 * 1024, lingerBytesMax: Int = 64 * 1024, requestsMax: Int = 10_000
  ) {
    self.head = head
    self.body = body
    self.drainBytesMax = drainBytesMax
    self.lingerBytesMax = lingerBytesMax
    self.requestsMax = requestsMax
  }
}
