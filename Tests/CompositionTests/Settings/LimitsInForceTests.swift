import HTTPServer
import HTTPWire
import Testing

@testable import Composition

struct LimitsInForceTests {
  /// One place says what a default is to users, another to the server: they must not part.
  @Test func defaultsAreTheServersOwn() {
    var limits = ServerAssembly.limits(LimitsSettings())
    #expect(limits.connectionsMax >= 64)
    limits.connectionsMax = ServerLimits().connectionsMax
    #expect(limits == ServerLimits())
  }

  @Test func whatIsSetReachesTheServer() throws {
    let settings = try SettingsFixture(
      yaml: """
        limits:
          method: 20
          leadingLines: 2
          chunkDigits: 8
          chunkExtension: 10
          chunkOverhead: 2KiB
          trailers: 1KiB
          trailerFields: 3
          decompressedBody: 5MiB
          decompressionRatio: 20
          transferRate: 1KiB
          transferGrace: 2s
          stall: 9s
          unwantedBody: 1KiB
          unwantedBodyPause: 300ms
          lingerBytes: 2KiB
          lingerDeadline: 700ms
          connections: 77
          connectionsPerAddress: 7
          backlog: 99
          readAhead: 4KiB
        """
    ).load().settings
    let limits = ServerAssembly.limits(settings.limits)
    #expect(limits.connection.head.methodBytesMax == 20)
    #expect(limits.connection.head.leadingLinesMax == 2)
    #expect(limits.connection.body.chunkSizeDigitsMax == 8)
    #expect(limits.connection.body.chunkExtensionBytesMax == 10)
    #expect(limits.connection.body.chunkOverheadBytesMax == 2048)
    #expect(limits.connection.body.trailerBytesMax == 1024)
    #expect(limits.connection.body.trailerFieldsMax == 3)
    #expect(limits.decodedBytesMax == 5 << 20)
    #expect(limits.decodingRatioMax == 20)
    #expect(limits.transferBytesPerSecondMin == 1024)
    #expect(limits.transferGrace == .seconds(2))
    #expect(limits.transferStallMax == .seconds(9))
    #expect(limits.connection.drainBytesMax == 1024)
    #expect(limits.drainPauseMax == .milliseconds(300))
    #expect(limits.connection.lingerBytesMax == 2048)
    #expect(limits.lingerDeadline == .milliseconds(700))
    #expect(limits.connectionsMax == 77)
    #expect(limits.connectionsPerAddressMax == 7)
    #expect(limits.backlog == 99)
    #expect(limits.readAheadBytesMax == 4096)
  }
}
