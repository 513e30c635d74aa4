/// Limits on requests, connections and callers.
package struct LimitsSettings: Sendable {
  /// Maximum size of request line and fields together.
  package var headBytesMax = 32 << 10
  package var fieldsMax = 100
  package var fieldBytesMax = 16 << 10
  package var methodBytesMax = 32
  /// Maximum number of empty lines before a request line.
  package var leadingLinesMax = 4
  /// Maximum size of the request line; RFC 9112 section 3 recommends at least 8000.
  package var targetBytesMax = 8 << 10
  package var bodyBytesMax = 1 << 20
  package var decompressedBytesMax = 10 << 20
  /// Maximum decoded bytes for each byte received.
  package var decompressionRatioMax = 10
  package var chunkSizeDigitsMax = 16
  /// Maximum size of the extensions of one chunk.
  package var chunkExtensionBytesMax = 256
  /// Maximum framing of all chunks, in addition to a quarter of the content.
  package var chunkOverheadBytesMax = 16 << 10
  package var trailerBytesMax = 8 << 10
  package var trailerFieldsMax = 32

  /// Maximum time from accepting a connection to the end of its TLS handshake.
  package var handshakeDeadline = Duration.seconds(10)
  /// Maximum time from the first byte of a head to its last, whatever its rate.
  package var headDeadline = Duration.seconds(10)
  /// Minimum bytes per second of a body, and of a response that the client reads, after
  /// `transferGrace`.
  package var transferBytesPerSecondMin = 240
  package var transferGrace = Duration.seconds(5)
  /// Maximum pause in a body or a response.
  package var stall = Duration.seconds(60)
  /// The same for a live stream, whose client reconnects with its cursor.
  package var streamStall = Duration.seconds(30)
  /// Maximum idle time; above that of usual load balancers (60 s), so that they close first.
  package var keepAlive = Duration.seconds(75)
  package var requestsPerConnectionMax = 10_000
  package var connectionAgeMax = Duration.seconds(3_600)
  /// Maximum bytes of an unwanted body that are discarded to keep its connection.
  package var unwantedBodyBytesMax = 256 << 10
  package var unwantedBodyPauseMax = Duration.seconds(1)
  package var unwantedBodyDeadline = Duration.seconds(1)
  /// Size of one read, and so the maximum buffered of pipelined requests.
  package var readAheadBytesMax = 64 << 10
  /// Maximum bytes discarded after a last response, so that a reset does not destroy it.
  package var lingerBytesMax = 16 << 20
  package var lingerDeadline = Duration.seconds(2)
  package var rangesMax = 16
  package var overlappingRangesMax = 2
  /// Maximum connections that the kernel queues until they are accepted.
  package var backlog = 1024
  /// Nil = the process's limit on descriptors minus some for files and upstream.
  package var connectionsMax: Int?
  /// Maximum connections of an address that belongs to one client, see ``SharedAddresses``.
  package var connectionsPerAddressMax = 256
  /// `Retry-After` of the 503 for clients beyond the connection limits.
  package var retryAfterSeconds = 1

  /// Maximum run time of one collection, search or SQL query.
  package var queryDeadline = Duration.seconds(2)
  /// Maximum bytes of all lists that streams follow, see ``Gateway/ListLedger``.
  package var listBytesMax = 64 << 20
  /// Requests of one caller in each `rateWindow`; nil = unlimited.
  package var rateMax: Int?
  package var rateWindow = Duration.seconds(60)
}
