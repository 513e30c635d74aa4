import Foundation

/// What carries requests: URLSession, or on Linux a socket for `http:`.
protocol HTTPTransport: Sendable {
  /// Begins an exchange.
  func start(_ request: HTTPRequest, url: URL) -> HTTPExchange
}

/// A request on its way, and what comes back. The body ends with an error if it was cut off.
struct HTTPExchange: Sendable {
  struct Head: Sendable {
    let status: Int
    /// By name in lower case.
    let headers: [String: String]
  }

  typealias Heads = AsyncThrowingStream<Head, any Error>
  typealias Body = AsyncThrowingStream<Data, any Error>

  /// One head, or an error.
  let heads: Heads
  let body: Body
  /// Ends the exchange. False if nothing of the request can have been sent.
  let end: @Sendable () -> Bool

  /// Without a byte for so many seconds a stream counts as broken; heartbeats come every 15 s.
  static let streamSilence = 40

  /// Ends the exchange.
  ///
  /// - Returns: false if nothing of the request can have been sent.
  @discardableResult
  func cancel() -> Bool { end() }

  func head() async throws -> Head {
    for try await head in heads { return head }
    throw LarderError.offline("The response has no head.", wasSent: true)
  }
}
