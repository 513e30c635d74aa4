/// What the bytes of a client connection mean, in the order they came.
package enum ClientConnectionEvent: Sendable, Equatable {
  /// All bytes have been taken, and more are wanted.
  case needMore
  /// The server wants the body that was held back for `Expect: 100-continue`. Without such a
  /// request it means nothing.
  case `continue`
  /// The final response's head is complete: ``ClientConnection/head``. With status 101 the
  /// connection speaks another protocol from here on.
  case response
  /// A range of the input that is the response's content.
  case content(Range<Int>)
  /// A range of the input that is the other protocol's.
  case switchedBytes(Range<Int>)
  /// The response is complete.
  case endOfResponse
}
