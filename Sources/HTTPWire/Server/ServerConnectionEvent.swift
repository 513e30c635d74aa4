/// What the bytes of a server connection mean, in the order they came.
package enum ServerConnectionEvent: Sendable, Equatable {
  /// All bytes have been taken, and more are wanted.
  case needMore
  /// A request's head is complete: ``ServerConnection/head``. Its body may follow.
  case request
  /// A range of the input that is the request's content.
  case content(Range<Int>)
  /// The request is complete.
  case endOfRequest
  /// The rest of the input belongs to later requests, and this one is still being answered: keep
  /// it, and stop reading.
  case pause
  /// Some of the input has been dropped: content nobody wants, or what follows the last answer.
  case ignored
  /// The lingering has had enough: close the socket now.
  case close
  /// The request is faulty. Answer it once; the connection ends with that answer.
  case refuse(RequestError)
}
