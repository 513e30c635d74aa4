/// Takes the connections that one loop's listener accepts. It belongs to that loop, so it may hold
/// state without locks (a count for each address, the list of idle connections).
package protocol StreamAcceptor: AnyObject {
  /// A connection came in from `stream.remoteAddress`. Returns its delegate, or nil to have it
  /// reset. The stream opens (`opened`) after this, with TLS once the handshake is done.
  func accepted(_ stream: ByteStream, on reactor: isolated Reactor) -> (any StreamDelegate)?
}
