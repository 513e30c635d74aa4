/// What a caller hands to the loop.
struct ExchangeOrder: Sendable {
  let request: RenderedRequest
  let isSafeToRepeat: Bool
  let responseBytesMax: Int
  /// Time for all of it, waiting included.
  let limit: Duration
}
