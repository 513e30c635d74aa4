import HTTPTypes
import Synchronization
import TestSupport
import Testing

@testable import HTTPClient

struct StreamingTests {
  private static let bytes = (0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }

  /// Made here, since it takes longer than an event loop may be held up.
  init() { _ = Self.bytes }

  private static func head(_ count: Int) -> [UInt8] {
    Array("HTTP/1.1 200 OK\r\nContent-Length: \(count)\r\n\r\n".utf8)
  }

  /// Content in pieces, which may end early.
  private static func content(
    _ bytes: [UInt8], promised: Int? = nil, pieceBytes: Int = 100_000
  ) -> HTTPClientContent {
    let offset = Mutex(0)
    return HTTPClientContent(byteCount: promised ?? bytes.count) {
      let start = offset.withLock { offset in
        defer { offset += pieceBytes }
        return offset
      }
      guard start < bytes.count else { return .end }
      return .piece(Array(bytes[start..<min(start + pieceBytes, bytes.count)]))
    }
  }

  @Test("Content is streamed as it arrives, and the connection is reused")
  func streamsContentAndReusesTheConnection() async throws {
    try await ClientSetting.run { _ in
      .keep(Self.head(Self.bytes.count) + Self.bytes)
    } body: {
      setting in
      for _ in 0..<2 {
        let answer = try await setting.client.stream(setting.request())
        #expect(answer.status == .ok)
        // Far more than waits for a reader: the rest comes only because it is read.
        #expect(try await answer.rest(bytesMax: .max) == Self.bytes)
      }
      #expect(setting.server.connectionCount == 1)
    }
  }

  /// Content of unknown length in pieces, which fails before its end if it is cut.
  private static func chunks(_ pieces: [[UInt8]], isCut: Bool = false) -> HTTPClientContent {
    let index = Mutex(0)
    return HTTPClientContent(byteCount: nil) {
      let next = index.withLock { index in
        defer { index += 1 }
        return index
      }
      guard next < pieces.count else { return isCut ? .failed : .end }
      return .piece(pieces[next])
    }
  }

  @Test("Content of unknown length is sent in chunks, and Host is the caller's")
  func sendsChunks() async throws {
    let pieces = [Array("ab".utf8), [], Array("cde".utf8)]
    let text = "2\r\nab\r\n3\r\ncde\r\n0\r\n\r\n"
    try await ClientSetting.run { _ in
      .ok()
    } body: { setting in
      var request = setting.request(method: .put)
      request.authority = "api.example.com"
      let answer = try await setting.client.stream(request, content: Self.chunks(pieces))
      #expect(try await answer.rest(bytesMax: 100) == Array("hello".utf8))
      let received = try #require(setting.server.requests.first)
      #expect(received.field("transfer-encoding") == "chunked")
      #expect(received.field("content-length") == nil)
      #expect(received.field("host") == "api.example.com")
      #expect(received.body == Array(text.utf8))
    }
  }

  @Test("Content of unknown length that fails does not reach the upstream as a whole")
  func cutChunksAreNoRequest() async throws {
    try await ClientSetting.run { _ in
      .ok()
    } body: { setting in
      await #expect(throws: HTTPClientError.self) {
        try await setting.client.stream(
          setting.request(method: .put), content: Self.chunks([Array("ab".utf8)], isCut: true))
      }
      #expect(setting.server.requests.isEmpty)
    }
  }

  @Test("Request content is sent as it is read")
  func sendsContentAsItIsRead() async throws {
    try await ClientSetting.run { _ in
      .ok()
    } body: { setting in
      for _ in 0..<2 {
        let answer = try await setting.client.stream(
          setting.request(method: .put), content: Self.content(Self.bytes))
        #expect(try await answer.rest(bytesMax: 100) == Array("hello".utf8))
      }
      #expect(setting.server.requests.map(\.body) == [Self.bytes, Self.bytes])
      #expect(setting.server.requests[0].field("content-length") == "3000000")
      #expect(setting.server.connectionCount == 1)
    }
  }

  @Test("Request content that ends early resets the connection")
  func contentThatEndsEarlyResetsTheConnection() async throws {
    try await ClientSetting.run { _ in
      .ok()
    } body: { setting in
      await #expect(throws: HTTPClientError.cancelled(wasSent: true)) {
        _ = try await setting.client.stream(
          setting.request(method: .put), content: Self.content([1, 2, 3], promised: 4))
      }
      #expect(await eventuallyHolds { setting.server.openConnectionCount == 0 })
      #expect(setting.server.requests.isEmpty)
    }
  }

  @Test("An early response stops the request's content")
  func earlyResponseStopsTheContent() async throws {
    try await ClientSetting.run { _ in
      .ok()
    } body: { setting in
      setting.server.refusesBodiesAbove(10)
      let asked = Mutex(0)
      let answer = try await setting.client.stream(
        setting.request(method: .put),
        content: HTTPClientContent(byteCount: 1 << 40) {
          asked.withLock { $0 += 1 }
          return .piece([UInt8](repeating: 0, count: 1000))
        })
      #expect(answer.status.code == 413)
      let count = asked.withLock { $0 }
      _ = try? await answer.rest(bytesMax: 1000)
      #expect(asked.withLock { $0 } == count)
    }
  }

  @Test("A released stream closes its connection")
  func releasedStreamClosesItsConnection() async throws {
    try await ClientSetting.run { _ in
      .keep(Self.head(Self.bytes.count) + Self.bytes)
    } body: {
      setting in
      do {
        let answer = try await setting.client.stream(setting.request())
        #expect(try await answer.next() != nil)
      }
      #expect(await eventuallyHolds { setting.server.openConnectionCount == 0 })
    }
  }

  @Test("A truncated stream is reported")
  func reportsATruncatedStream() async throws {
    try await ClientSetting.run { _ in
      .end(Self.head(10) + [1, 2, 3])
    } body: { setting in
      let answer = try await setting.client.stream(setting.request())
      await #expect(throws: HTTPClientError.responseTruncated) {
        _ = try await answer.rest(bytesMax: 100)
      }
    }
  }

  @Test("A stalled stream times out")
  func endsAStalledStream() async throws {
    let script: ScriptedServer.Script = { _ in .keep(Self.head(10) + [1, 2, 3]) }
    let quickly = { (settings: inout HTTPClientSettings) in
      settings.stallTimeout = .milliseconds(50)
    }
    try await ClientSetting.run(script, settings: quickly) { setting in
      let answer = try await setting.client.stream(setting.request())
      await #expect(throws: HTTPClientError.responseTooSlow) {
        _ = try await answer.rest(bytesMax: 100)
      }
    }
  }

  @Test("A request without content is retried if its connection was stale")
  func retriesRequestsWithoutContentOnStaleConnections() async throws {
    try await ClientSetting.run {
      $0.connection == 1 && $0.index == 1 ? .reset([]) : .ok()
    } body: {
      setting in
      for _ in 0..<2 {
        let answer = try await setting.client.stream(setting.request())
        #expect(try await answer.rest(bytesMax: 100) == Array("hello".utf8))
      }
    }
  }
}
