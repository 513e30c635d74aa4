package import HTTPWire

/// Why a request's content could not be read to its end.
package enum BodyReadError: Error, Sendable, Hashable {
  /// There is more than the reader, or the route, takes: 413.
  case tooLarge(bytesMax: Int)
  /// The content is faulty or late. The server answers that by itself and drops the handler's
  /// response, but for a faulty content coding, which only the reader sees: 400.
  case refused(RequestError)
  /// The client ended its sending before the content was whole. It may still read: 400.
  case incomplete
  /// The connection is gone; nobody waits for an answer.
  case disconnected
  /// The handler's task was cancelled.
  case cancelled
}
