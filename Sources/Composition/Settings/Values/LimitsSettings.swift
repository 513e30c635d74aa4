/// Bounds on what one caller may cost.
package struct LimitsSettings: Sendable {
  /// Request line and fields together.
  package var headBytesMax = 32 << 10
  package var fieldsMax = 100
  package var fieldBytesMax = 16 << 10
  package var methodBytesMax = 32
  /// Before a request line.
  package var leadingLinesMax = 4
  /// Of the request line; RFC 9112 section 3 asks for 8000 at least.
  package var targetBytesMax = 8 << 10
  package var bodyBytesMax = 1 << 20
  package var decompressedBytesMax = 10 << 20
  /// Bytes that come out for each that went in.
  package var decompressionRatioMax = 10
  package var chunkSizeDigitsMax = 16
  /// Of one chunk's line.
  package var chunkExtensionBytesMax = 256
  /// Of all chunks' lines, on top of a quarter of the content.
  package var chunkOverheadBytesMax = 16 << 10
  package var trailerBytesMax = 8 << 10
  package var trailerFieldsMax = 32

  /// From accepting a connection to the end of its TLS handshake.
  package var handshakeDeadline = Duration.seconds(10)
  /// From the first byte of a head to its last, whatever its pace.
  package var headDeadline = Duration.seconds(10)
  /// The least that a body must bring, and a client must take, a second; after `transferGrace`.
  package var transferBytesPerSecondMin = 240
  package var transferGrace = Duration.seconds(5)
  /// Longest pause inside a body or an answer.
  package var stall = Duration.seconds(60)
  /// The same of a live stream, whose client comes back with its place.
  package var streamStall = Duration.seconds(30)
  /// Above the idle time of usual load balancers (60 s), so that they close first.
  package var keepAlive = Duration.seconds(75)
  package var requestsPerConnectionMax = 10_000
  package var connectionAgeMax = Duration.seconds(3_600)
  /// Rest of a body that nobody wants, read and dropped to keep its connection.
  package var unwantedBodyBytesMax = 256 << 10
  package var unwantedBodyPauseMax = Duration.seconds(1)
  package var unwantedBodyDeadline = Duration.seconds(1)
  /// Read at once, and so kept of requests behind the one that is being answered.
  package var readAheadBytesMax = 64 << 10
  /// Read and dropped behind a last answer, so that a reset does not take it back.
  package var lingerBytesMax = 64 << 10
  package var lingerDeadline = Duration.seconds(2)
  package var rangesMax = 16
  package var overlappingRangesMax = 2
  /// Connections that the kernel keeps until they are accepted.
  package var backlog = 1024
  /// Nil = the process's limit on descriptors less some for files and upstream.
  package var connectionsMax: Int?
  /// Of an address that belongs to one client, see ``SharedAddresses``.
  package var connectionsPerAddressMax = 256
  /// Told to whom there is no place for.
  package var retryAfterSeconds = 1

  /// For one collection, search or SQL statement.
  package var queryDeadline = Duration.seconds(2)
  /// Requests of one caller in each `rateWindow`; nil = unlimited.
  package var rateMax: Int?
  package var rateWindow = Duration.seconds(60)
}
