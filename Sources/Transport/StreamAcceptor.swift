/// Takes the connections that one loop's listener accepts. It belongs to that loop, so it may hold
/// state without locks (a count for each address, the list of idle connections).
package protocol StreamAcceptor: AnyObject {
  /// A connection came in from `stream.remoteAddress`. Returns its delegate, or nil to have it
  /// reset. The stream opens (`opened`) after this, with TLS once the handshake is done.
  func accepted(_ stream: ByteStream, on reactor: isolated Reactor) -> (any StreamDelegate)?

  /// No descriptor is left for a connection that waits. Has some closed that nobody needs, the
  /// longest idle first; returns whether there may soon be room. It is asked again after a pause.
  func descriptorsRanOut(on reactor: isolated Reactor) -> Bool

  /// A connection that nothing could be closed for came in on the descriptor that is kept for this.
  /// Returns a delegate that tells the client so and ends, soon: meanwhile others wait, and after
  /// ``Listener/refusalDeadline`` the connection is cut off. Nil to have it reset.
  func acceptedOnSpare(
    _ stream: ByteStream, on reactor: isolated Reactor
  ) -> (any StreamDelegate)?
}

extension StreamAcceptor {
  package func descriptorsRanOut(on reactor: isolated Reactor) -> Bool { false }

  package func acceptedOnSpare(
    _ stream: ByteStream, on reactor: isolated Reactor
  ) -> (any StreamDelegate)? { nil }
}
