/// Takes the connections that one loop's listener accepts. It belongs to that loop, so it may hold
/// state without locks (a count for each address, the list of idle connections).
package protocol StreamAcceptor: AnyObject {
  /// A connection came in from `stream.remoteAddress`. Returns its delegate, or nil to have it
  /// reset. The stream opens (`opened`) after this, with TLS once the handshake is done.
  func accepted(_ stream: ByteStream, on reactor: isolated Reactor) -> (any StreamDelegate)?

  /// No descriptor is left for a connection that waits. Closes some that nobody needs, the longest
  /// idle first; returns whether there were any.
  func descriptorsRanOut(on reactor: isolated Reactor) -> Bool
}

extension StreamAcceptor {
  package func descriptorsRanOut(on reactor: isolated Reactor) -> Bool { false }
}
