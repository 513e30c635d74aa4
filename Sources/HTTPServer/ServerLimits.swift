package import HTTPWire

/// Every bound of the server, in bytes, numbers and time.
package struct ServerLimits: Sendable, Equatable {
  /// Bytes of heads, chunks, drained bodies; requests on a connection.
  package var connection = ServerConnectionLimits()

  /// Content of a request whose route says nothing else.
  package var bodyBytesMax = 1024 * 1024
  /// Bytes that content sent in a coding may have once that is off.
  package var decodedBytesMax = 10 * 1024 * 1024
  /// Bytes out for each byte in, past what the route takes without a coding; and how often more
  /// than that a reader who names a bound gets.
  package var decodingRatioMax = 10

  /// Bytes read at once from a connection, and so the most that is kept of requests behind the one
  /// that is being answered: nothing is read on before it is.
  package var readAheadBytesMax = 64 * 1024

  /// From accepting to the end of the TLS handshake.
  package var handshakeDeadline: Duration = .seconds(10)
  /// From a head's first byte to its last, and for the first byte of a connection: absolute, as is
  /// the one above, since a timer for each read never ends a client that drips.
  package var headDeadline: Duration = .seconds(10)
  /// Between requests. Above load balancers' own, so that they close first.
  package var idleDeadline: Duration = .seconds(75)
  /// The least a body must bring, and a client must take, in the mean; after the grace.
  package var transferBytesPerSecondMin = 240
  package var transferGrace: Duration = .seconds(5)
  /// The longest pause within a transfer.
  package var transferStallMax: Duration = .seconds(60)
  /// The longest pause in an early answer's unwanted body, and the longest it may take in all.
  package var drainPauseMax: Duration = .seconds(1)
  package var drainDeadline: Duration = .seconds(1)
  /// From the last answer to closing the socket.
  package var lingerDeadline: Duration = .seconds(2)
  /// A connection older than this ends with its next answer, so that load spreads anew.
  package var connectionAgeMax: Duration = .seconds(3600)

  /// Connections of the whole server. Above it, those of all loops that have been idle longest are
  /// closed, and newcomers get a 503 where none is idle.
  package var connectionsMax = 10_000
  /// Connections that the kernel keeps for each loop until they are accepted.
  package var backlog = 1024
  /// Connections from one address, proxies and shared addresses excepted; those beyond get a 503.
  /// `nil` for no bound.
  package var connectionsPerAddressMax: Int? = 256
  /// Seconds told in `Retry-After` with that 503.
  package var retryAfterSeconds = 1

  /// How long idle connections stay open when the server drains: a request may be on its way.
  package var drainIdleDeadline: Duration = .seconds(1)

  /// Bodies smaller than this are not worth compressing.
  package var compressionBytesMin = 256
  /// Bodies larger than this are compressed on another thread: 128 KiB take about 0.3 ms.
  package var compressionOnLoopBytesMax = 128 * 1024
  /// Bytes of a file from which on it is sent without passing through this process.
  package var sendfileBytesMin = 32 * 1024

  package init() {}

  /// For content of a route that takes `bytesMax` of it without a coding.
  func decoding(bytesMax: Int) -> DecodingLimits {
    DecodingLimits(
      bytesMax: max(decodedBytesMax, bytesMax), ratioMax: decodingRatioMax, bytesFree: bytesMax)
  }
}
