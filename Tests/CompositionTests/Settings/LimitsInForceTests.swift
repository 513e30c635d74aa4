import HTTPServer
import HTTPWire
import Testing

@testable import Composition

struct LimitsInForceTests {
  /// The defaults are defined both for settings and for the server, and must be equal.
  @Test("The default settings equal the server's defaults")
  func defaultsEqualServerDefaults() {
    var limits = ServerAssembly.limits(LimitsSettings())
    #expect(limits.connectionsMax >= 64)
    limits.connectionsMax = ServerLimits().connectionsMax
    #expect(limits == ServerLimits())
  }

  /// The documented numbers: each limits the cost of an attack.
  @Test("The default limits have the documented values")
  func defaultsHaveDocumentedValues() {
    let limits = ServerAssembly.limits(LimitsSettings())
    let head = limits.connection.head
    #expect(head.startLineBytesMax == 8192)
    #expect(head.methodBytesMax == 32)
    #expect(head.headBytesMax == 32 * 1024)
    #expect(head.fieldsMax == 100)
    #expect(head.fieldBytesMax == 16 * 1024)
    #expect(head.leadingLinesMax == 4)
    let body = limits.connection.body
    #expect(body.chunkSizeDigitsMax == 16)
    #expect(body.chunkExtensionBytesMax == 256)
    #expect(body.chunkOverheadBytesMax == 16 * 1024)
    #expect(body.trailerBytesMax == 8 * 1024)
    #expect(body.trailerFieldsMax == 32)
    #expect(limits.bodyBytesMax == 1024 * 1024)
    #expect(limits.decodedBytesMax == 10 * 1024 * 1024)
    #expect(limits.decodingRatioMax == 10)
    #expect(limits.handshakeDeadline == .seconds(10))
    #expect(limits.headDeadline == .seconds(10))
    #expect(limits.transferBytesPerSecondMin == 240)
    #expect(limits.transferGrace == .seconds(5))
    #expect(limits.transferStallMax == .seconds(60))
    #expect(limits.idleDeadline == .seconds(75))
    #expect(limits.connection.requestsMax == 10_000)
    #expect(limits.connectionAgeMax == .seconds(60 * 60))
    #expect(limits.readAheadBytesMax == 64 * 1024)
    #expect(limits.connection.drainBytesMax == 256 * 1024)
    #expect(limits.drainPauseMax == .seconds(1))
    #expect(limits.drainDeadline == .seconds(1))
    #expect(limits.connection.lingerBytesMax == 16 << 20)
    #expect(limits.lingerDeadline == .seconds(2))
    #expect(limits.backlog == 1024)
    #expect(limits.retryAfterSeconds == 1)
    #expect(DrainSettings().idle == .seconds(1))
    let settings = LimitsSettings()
    #expect(settings.rangesMax == 16)
    #expect(settings.overlappingRangesMax == 2)
  }

  @Test("Limits of request heads reach the server")
  func headLimitsReachServer() throws {
    let limits = try limits(
      """
      head: 20KiB
      fields: 50
      field: 9KiB
      target: 8100
      method: 20
      leadingLines: 2
      handshakeDeadline: 3s
      headDeadline: 4s
      """)
    #expect(limits.connection.head.headBytesMax == 20 * 1024)
    #expect(limits.connection.head.fieldsMax == 50)
    #expect(limits.connection.head.fieldBytesMax == 9 * 1024)
    #expect(limits.connection.head.startLineBytesMax == 8100)
    #expect(limits.connection.head.methodBytesMax == 20)
    #expect(limits.connection.head.leadingLinesMax == 2)
    #expect(limits.handshakeDeadline == .seconds(3))
    #expect(limits.headDeadline == .seconds(4))
  }

  @Test("Limits of bodies reach the server")
  func bodyLimitsReachServer() throws {
    let limits = try limits(
      """
      body: 3KiB
      decompressedBody: 5MiB
      decompressionRatio: 20
      chunkDigits: 8
      chunkExtension: 10
      chunkOverhead: 2KiB
      trailers: 1KiB
      trailerFields: 3
      unwantedBody: 1KiB
      unwantedBodyPause: 300ms
      unwantedBodyDeadline: 400ms
      """)
    #expect(limits.bodyBytesMax == 3 * 1024)
    #expect(limits.decodedBytesMax == 5 << 20)
    #expect(limits.decodingRatioMax == 20)
    #expect(limits.connection.body.chunkSizeDigitsMax == 8)
    #expect(limits.connection.body.chunkExtensionBytesMax == 10)
    #expect(limits.connection.body.chunkOverheadBytesMax == 2048)
    #expect(limits.connection.body.trailerBytesMax == 1024)
    #expect(limits.connection.body.trailerFieldsMax == 3)
    #expect(limits.connection.drainBytesMax == 1024)
    #expect(limits.drainPauseMax == .milliseconds(300))
    #expect(limits.drainDeadline == .milliseconds(400))
  }

  @Test("Limits of transfers reach the server")
  func transferLimitsReachServer() throws {
    let limits = try limits(
      """
      transferRate: 1KiB
      transferGrace: 2s
      stall: 9s
      """)
    #expect(limits.transferBytesPerSecondMin == 1024)
    #expect(limits.transferGrace == .seconds(2))
    #expect(limits.transferStallMax == .seconds(9))
  }

  @Test("Limits of connections reach the server")
  func connectionLimitsReachServer() throws {
    let limits = try limits(
      """
      keepAlive: 8s
      requestsPerConnection: 6
      connectionAge: 11s
      lingerBytes: 2KiB
      lingerDeadline: 700ms
      connections: 77
      connectionsPerAddress: 7
      retryAfter: 5
      backlog: 99
      readAhead: 4KiB
      """)
    #expect(limits.idleDeadline == .seconds(8))
    #expect(limits.connection.requestsMax == 6)
    #expect(limits.connectionAgeMax == .seconds(11))
    #expect(limits.connection.lingerBytesMax == 2048)
    #expect(limits.lingerDeadline == .milliseconds(700))
    #expect(limits.connectionsMax == 77)
    #expect(limits.connectionsPerAddressMax == 7)
    #expect(limits.retryAfterSeconds == 5)
    #expect(limits.backlog == 99)
    #expect(limits.readAheadBytesMax == 4096)
  }

  /// Files use the settings directly.
  @Test("Limits of ranges are read")
  func readsRangeLimits() throws {
    let settings = try loaded("ranges: 4\noverlappingRanges: 1")
    #expect(settings.rangesMax == 4)
    #expect(settings.overlappingRangesMax == 1)
  }

  /// Settings under `limits`, one per line.
  private func limits(_ lines: String) throws -> ServerLimits {
    ServerAssembly.limits(try loaded(lines))
  }

  private func loaded(_ lines: String) throws -> LimitsSettings {
    let indented = lines.split(separator: "\n").map { "  \($0)" }.joined(separator: "\n")
    return try SettingsFixture(yaml: "limits:\n\(indented)\n").load().settings.limits
  }
}
