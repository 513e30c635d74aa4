/// What a caller hands to the loop.
struct ExchangeOrder: Sendable {
  let request: RenderedRequest
  let isSafeToRepeat: Bool
  let responseBytesMax: Int
  /// Time for all of it, waiting included.
  let limit: Duration
  /// Content that follows the head; nil where the request has all of it.
  var outgoing: OutgoingContent?
  /// Where the answer's content goes as it comes; nil where it is gathered.
  var incoming: IncomingContent?
}
