package import HTTPWire

/// All limits of the server, in bytes, counts and time.
package struct ServerLimits: Sendable, Equatable {
  /// Limits on heads, chunks, drained bodies, and requests per connection.
  package var connection = ServerConnectionLimits()

  /// Bytes of a request's content, unless its route sets another limit.
  package var bodyBytesMax = 1024 * 1024
  /// Bytes of decoded content.
  package var decodedBytesMax = 10 * 1024 * 1024
  /// Decoded bytes per coded byte, beyond the route's limit on uncoded content; also the factor by which
  /// decoded content can exceed a reader's own limit.
  package var decodingRatioMax = 10

  /// Bytes read at once from a connection, and so the limit on bytes kept for requests after the one
  /// being served: nothing more is read until its response is complete.
  package var readAheadBytesMax = 64 * 1024

  /// From accepting to the end of the TLS handshake.
  package var handshakeDeadline: Duration = .seconds(10)
  /// From a head's first byte to its last, and for the first byte of a connection. Absolute, like the one
  /// above, since a timer per read never ends a client that sends a byte at a time.
  package var headDeadline: Duration = .seconds(10)
  /// Between requests. Longer than that of load balancers, so that they close first.
  package var idleDeadline: Duration = .seconds(75)
  /// The minimum mean speed of a body, and of a client's reading, after the grace period.
  package var transferBytesPerSecondMin = 240
  package var transferGrace: Duration = .seconds(5)
  /// The longest pause within a transfer.
  package var transferStallMax: Duration = .seconds(60)
  /// The longest pause in the unwanted body of an early response, and its total time.
  package var drainPauseMax: Duration = .seconds(1)
  package var drainDeadline: Duration = .seconds(1)
  /// From the last response to closing the socket.
  package var lingerDeadline: Duration = .seconds(2)
  /// A connection older than this closes after its next response, so that load is redistributed.
  package var connectionAgeMax: Duration = .seconds(3600)

  /// Connections of the whole server. Above it, the connections that have been idle longest are closed,
  /// and new ones get a 503 if none is idle.
  package var connectionsMax = 10_000
  /// Connections that the kernel queues for each loop until they are accepted.
  package var backlog = 1024
  /// Connections from one address, except proxies and shared addresses; further ones get a 503. `nil` for
  /// no limit.
  package var connectionsPerAddressMax: Int? = 256
  /// Seconds in `Retry-After` of that 503.
  package var retryAfterSeconds = 1

  /// How long idle connections stay open while the server drains: a request may be on its way.
  package var drainIdleDeadline: Duration = .seconds(1)

  /// Bodies smaller than this are not compressed.
  package var compressionBytesMin = 256
  /// Bodies larger than this are compressed on another thread: 128 KiB take about 0.3 ms.
  package var compressionOnLoopBytesMax = 128 * 1024
  /// The size from which a file is sent by `sendfile`, without a copy through this process.
  var sendfileBytesMin = 32 * 1024

  package init() {}

  /// Returns the decoding limits for a route whose limit on uncoded content is `bytesMax`.
  func decoding(bytesMax: Int) -> DecodingLimits {
    DecodingLimits(
      bytesMax: max(decodedBytesMax, bytesMax), ratioMax: decodingRatioMax, bytesFree: bytesMax)
  }
}
