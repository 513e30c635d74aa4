import Glibc
import HTTPServer
import TestSupport
import Testing
import Transport

/// Clients that read a response slowly: below the minimum speed they are disconnected, above it not.
///
/// Over TCP and a Unix socket, which tells otherwise what its client has taken.
struct SlowReadTests {
  /// The ways in which content is sent.
  enum Content: String, CaseIterable, Sendable {
    case bytes, stream, file
  }

  enum Way: String, CaseIterable, Sendable {
    case tcp, unix
  }

  /// More than the buffers of two sockets take.
  private static let byteCount = 32 << 20
  /// Made before there is a server: a handler that takes long holds up its loop, and with it the
  /// loop's clock.
  private static let large = [UInt8](repeating: 0x61, count: byteCount)

  /// A server of large content, its files and its socket in a folder of its own.
  private struct Place: Sendable {
    let folder = "/tmp/larder-slow-\(UInt64.random(in: 0...UInt64.max))"
    let requests = Count()

    var file: String { "\(folder)/large.bin" }
    var socket: String { "\(folder)/s" }

    /// How often this process has the file open.
    var openFileCount: Int {
      guard let listing = opendir("/proc/self/fd") else { return 0 }
      defer { closedir(listing) }
      var count = 0
      var target = [CChar](repeating: 0, count: Int(PATH_MAX))
      while let entry = readdir(listing) {
        let name = withUnsafeBytes(of: entry.pointee.d_name) { name in
          String(decoding: name.prefix { $0 != 0 }, as: UTF8.self)
        }
        let length = readlink("/proc/self/fd/\(name)", &target, target.count)
        let path = target.prefix(max(0, length)).map { UInt8(bitPattern: $0) }
        if path.elementsEqual(file.utf8) { count += 1 }
      }
      return count
    }

    func serve(
      over way: Way, limits: ServerLimits, _ body: (ServerFixture) async throws -> Void
    ) async throws {
      #expect(SlowReadTests.large.count == SlowReadTests.byteCount)
      #expect(mkdir(folder, 0o700) == 0)
      defer { for path in [file, socket, folder] { remove(path) } }
      close(open(file, O_CREAT | O_WRONLY | O_CLOEXEC, 0o600))
      // Without blocks on the disk.
      #expect(truncate(file, SlowReadTests.byteCount) == 0)
      let endpoint: Endpoint =
        switch way {
        case .tcp: .host("127.0.0.1", port: 0)
        case .unix: .unix(path: socket)
        }
      try await ServerFixture.serve(handler, at: endpoint, limits: limits, body)
    }

    private var handler: ScriptedHandler {
      ScriptedHandler { [file, requests] request in
        requests.add()
        switch Content(rawValue: String(request.path.dropFirst())) {
        case .bytes:
          return ServerResponse(body: .bytes(SlowReadTests.large))
        case .stream:
          return ServerResponse(
            body: .stream { writer in
              while true { try await writer.write(Array(SlowReadTests.large.prefix(1 << 20))) }
            })
        case .file:
          guard let open = try? OpenFile(path: file) else { return .text("no file") }
          return ServerResponse(body: .file(open, 0..<open.byteCount))
        case nil:
          return .text("nothing here")
        }
      }
    }

    func peer(over way: Way, port: Int) throws -> BytePeer {
      switch way {
      case .tcp: try BytePeer(port: port, receiveBufferBytes: 4096)
      case .unix: try BytePeer(unixPath: socket)
      }
    }
  }

  /// Each sip comes long before a stall would be one; all of them together are too slow.
  @Test(
    "A client that reads too slowly is disconnected",
    arguments: Content.allCases, Way.allCases)
  func clientThatReadsTooSlowlyIsReset(content: Content, way: Way) async throws {
    var limits = ServerLimits()
    limits.transferGrace = .milliseconds(400)
    limits.transferBytesPerSecondMin = 4 << 20
    let place = Place()
    try await place.serve(over: way, limits: limits) { server in
      let port = server.port
      let count = try await server.group.blockingPool.run { () throws -> Int in
        let peer = try place.peer(over: way, port: port)
        peer.send("GET /\(content) HTTP/1.1\r\nHost: x\r\n\r\n")
        return peer.sip(upTo: 1024, everyMilliseconds: 10, countMax: 1000)
      }
      #expect(count < 1000)
      #expect(await eventuallyHolds { server.service.connectionCount == 0 })
    }
  }

  /// What it takes counts as it takes it, not once the kernel has room for more; nor where a kernel
  /// tells of it late: in the grace it takes less than a Unix socket's piece.
  @Test(
    "A slow client above the minimum speed is served",
    arguments: Content.allCases, Way.allCases)
  func slowClientAboveTheMinimumIsServed(content: Content, way: Way) async throws {
    var limits = ServerLimits()
    limits.transferGrace = .milliseconds(500)
    limits.transferBytesPerSecondMin = 2000
    let place = Place()
    try await place.serve(over: way, limits: limits) { server in
      let port = server.port
      let count = try await server.group.blockingPool.run { () throws -> Int in
        let peer = try place.peer(over: way, port: port)
        peer.send("GET /\(content) HTTP/1.1\r\nHost: x\r\n\r\n")
        return peer.sip(upTo: way == .unix ? 256 : 2048, everyMilliseconds: 10, countMax: 100)
      }
      #expect(count == 100)
    }
  }

  /// At its deadline, and not before; resources of the response are released.
  @Test(
    "A client that reads nothing is disconnected at its deadline",
    arguments: Content.allCases, Way.allCases)
  func clientThatReadsNothingIsReset(content: Content, way: Way) async throws {
    var limits = ServerLimits()
    limits.transferStallMax = .milliseconds(400)
    let place = Place()
    try await place.serve(over: way, limits: limits) { server in
      let start = ContinuousClock.now
      let peer = try place.peer(over: way, port: server.port)
      peer.send("GET /\(content) HTTP/1.1\r\nHost: x\r\n\r\n")
      #expect(await eventuallyHolds { place.requests.value == 1 })
      #expect(await eventuallyHolds { server.service.connectionCount == 0 })
      #expect(ContinuousClock.now - start >= limits.transferStallMax)
      #expect(await eventuallyHolds { place.openFileCount == 0 })
      try peer.receiveToEnd()
      #expect(peer.received.count < Self.byteCount)
    }
  }
}
