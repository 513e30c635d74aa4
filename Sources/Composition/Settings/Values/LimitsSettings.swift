/// Bounds on what one caller may cost.
package struct LimitsSettings: Sendable {
  /// Request line and fields together.
  package var headBytesMax = 32 << 10
  package var fieldsMax = 100
  package var fieldBytesMax = 16 << 10
  /// Of the request line; RFC 9112 section 3 asks for 8000 at least.
  package var targetBytesMax = 8 << 10
  package var bodyBytesMax = 1 << 20
  package var decompressedBytesMax = 10 << 20

  /// From accepting a connection to the end of its TLS handshake.
  package var handshakeDeadline = Duration.seconds(10)
  /// From the first byte of a head to its last, whatever its pace.
  package var headDeadline = Duration.seconds(10)
  /// Longest pause inside a body or an answer.
  package var stall = Duration.seconds(60)
  /// Above the idle time of usual load balancers (60 s), so that they close first.
  package var keepAlive = Duration.seconds(75)
  package var requestsPerConnectionMax = 10_000
  package var connectionAgeMax = Duration.seconds(3_600)
  /// Nil = as many as the server can carry.
  package var connectionsMax: Int?
  /// Nil = no bound: behind a proxy all connections come from one address.
  package var connectionsPerAddressMax: Int?

  /// For one collection, search or SQL statement.
  package var queryDeadline = Duration.seconds(2)
  /// Requests of one caller in each `rateWindow`; nil = unlimited.
  package var rateMax: Int?
  package var rateWindow = Duration.seconds(60)
}
