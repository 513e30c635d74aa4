import HTTPServer
import HTTPTypes
import HTTPWire
import Synchronization
import TestSupport
import Testing

struct CodedBodyTests {
  private static let handler = ScriptedHandler { request in
    do throws(BodyReadError) {
      let bytes = try await request.body.collect(upTo: 64 * 1024)
      return .text(String(decoding: bytes, as: UTF8.self))
    } catch {
      switch error {
      case .tooLarge: return .problem(.contentTooLarge, for: request)
      default: return .text("\(error)", status: .badRequest)
      }
    }
  }

  /// Small enough for quick tests: 64 KiB as sent, 256 KiB in all, four times what was sent.
  private static var limits: ServerLimits {
    var limits = ServerLimits()
    limits.bodyBytesMax = 64 * 1024
    limits.decodedBytesMax = 256 * 1024
    limits.decodingRatioMax = 4
    return limits
  }

  /// `{"a":1}` as zlib writes it.
  private static let deflated: [UInt8] = [
    120, 156, 171, 86, 74, 84, 178, 50, 172, 5, 0, 8, 42, 2, 9,
  ]
  /// A whole gzip member of nothing.
  private static let emptyMember: [UInt8] = [
    31, 139, 8, 0, 0, 0, 0, 0, 2, 3, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0,
  ]

  private static func post(_ body: [UInt8], coding: String) -> [UInt8] {
    let head =
      "POST / HTTP/1.1\r\nHost: x\r\nContent-Encoding: \(coding)\r\n"
      + "Content-Length: \(body.count)\r\n\r\n"
    return Array(head.utf8) + body
  }

  private static func answer(to body: [UInt8], coding: String) async throws -> RawResponse {
    let response = Mutex<RawResponse?>(nil)
    try await ServerFixture.serve(handler, limits: limits) { server in
      let got = try await server.withClient { client in
        try client.send(post(body, coding: coding))
        return try client.response()
      }
      response.withLock { $0 = got }
    }
    return try #require(response.withLock { $0 })
  }

  private static func gzip(_ text: String) throws -> [UInt8] {
    try #require(Gzip.compress(Array(text.utf8)))
  }

  @Test(
    "A gzip body is decoded",
    arguments: ["gzip", "x-gzip", "GZIP", "identity, gzip", " gzip , "])
  func gzipIsDecoded(coding: String) async throws {
    let text = String(repeating: "{\"film\":1}", count: 500)
    let response = try await Self.answer(to: Self.gzip(text), coding: coding)
    #expect(response.status == 200)
    #expect(response.text == text)
  }

  @Test("A deflate body is decoded")
  func deflateIsDecoded() async throws {
    #expect(try await Self.answer(to: Self.deflated, coding: "deflate").text == "{\"a\":1}")
  }

  @Test("Decoded content can exceed the limit on plain content")
  func decodedContentCanExceedThePlainLimit() async throws {
    // Some 100 KB of digits, which shrink to about half.
    var word: UInt32 = 1
    let text = (0..<16_000).map { _ in
      word = word &* 1_664_525 &+ 1_013_904_223
      return String(word >> 8, radix: 16)
    }.joined()
    let coded = try Self.gzip(text)
    #expect(coded.count < 64 * 1024)
    #expect(text.utf8.count > 64 * 1024)
    let response = try await Self.answer(to: coded, coding: "gzip")
    #expect(response.text == text)
  }

  @Test("Consecutive gzip members are decoded as one body")
  func gzipMembersAreConcatenated() async throws {
    let body =
      try Self.gzip(String(repeating: "one", count: 20)) + Self.emptyMember
      + Self.gzip(String(repeating: "two", count: 20))
    let response = try await Self.answer(to: body, coding: "gzip")
    #expect(
      response.text == String(repeating: "one", count: 20) + String(repeating: "two", count: 20))
  }

  @Test("Chunks can split a coded body anywhere")
  func chunksCanSplitCodedContent() async throws {
    let text = String(repeating: "{\"film\":1}", count: 500)
    let coded = try Self.gzip(text)
    try await ServerFixture.serve(Self.handler, limits: Self.limits) { server in
      let response = try await server.withClient { client in
        try client.send(
          "POST / HTTP/1.1\r\nHost: x\r\nContent-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n"
            + "\r\n")
        for byte in coded { try client.send(Array("1\r\n".utf8) + [byte] + [13, 10]) }
        try client.send("0\r\n\r\n")
        return try client.response()
      }
      #expect(response.text == text)
    }
  }

  @Test(
    "Unsupported codings are refused before the body is sent",
    arguments: ["br", "zstd", "gzip, gzip", "gzip, deflate", "nonsense"])
  func otherCodingsAreRefusedBeforeTheyAreSent(coding: String) async throws {
    try await ServerFixture.serve(Self.handler, limits: Self.limits) { server in
      let response = try await server.withClient { client in
        try client.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Encoding: \(coding)\r\n")
        try client.send("Content-Length: 9\r\nExpect: 100-continue\r\n\r\n")
        return try client.response()
      }
      #expect(response.status == 415)
      #expect(response["accept-encoding"] == "gzip, deflate")
      #expect(response.text.contains("\"code\":\"unsupported_media_type\""))
    }
  }

  @Test("A malformed gzip body is refused")
  func malformedGzipIsRefused() async throws {
    let whole = try Self.gzip(String(repeating: "x", count: 100))
    var flipped = whole
    flipped[flipped.count - 6] ^= 1
    for body in [Array("plain text".utf8), Array(whole.dropLast(3)), whole + [1, 2, 3], flipped] {
      let response = try await Self.answer(to: body, coding: "gzip")
      #expect(response.status == 400)
      #expect(response.text.contains("malformedContentCoding"))
    }
  }

  /// A few bytes that stand for many: no more than the bound of it is ever made.
  @Test("A decompression bomb stops at the limit")
  func bombsAreStopped() async throws {
    let bomb = try #require(Gzip.compress([UInt8](repeating: 0, count: 30 << 20)))
    #expect(bomb.count < 48 * 1024)
    let response = try await Self.answer(to: bomb, coding: "gzip")
    #expect(response.status == 413)
    let nested = (0..<20).flatMap { _ in
      Gzip.compress([UInt8](repeating: 0, count: 64 * 1024)) ?? []
    }
    #expect(try await Self.answer(to: nested, coding: "gzip").status == 413)
  }

  /// A reader that keeps nothing sees pieces of bounded size, and the end at the bound.
  @Test("A decompression bomb stops at the limit for a streaming reader")
  func bombIsStoppedForAStreamingReader() async throws {
    let largest = Mutex(0)
    let total = Mutex(0)
    let handler = ScriptedHandler { request in
      do {
        for try await piece in request.body {
          largest.withLock { $0 = max($0, piece.count) }
          total.withLock { $0 += piece.count }
        }
        return .text("all of it")
      } catch {
        return .problem(.contentTooLarge, for: request)
      }
    }
    let bomb = try #require(Gzip.compress([UInt8](repeating: 0, count: 30 << 20)))
    try await ServerFixture.serve(handler, limits: Self.limits) { server in
      let status = try await server.withClient { client in
        try client.send(Self.post(bomb, coding: "gzip"))
        return try client.response().status
      }
      #expect(status == 413)
    }
    #expect(largest.withLock { $0 } <= 32 * 1024)
    #expect(total.withLock { $0 } <= 256 * 1024)
  }

  @Test("Many empty gzip members are refused")
  func manyEmptyMembersAreStopped() async throws {
    let members = (0..<3_000).flatMap { _ in Self.emptyMember }
    #expect(try await Self.answer(to: members, coding: "gzip").status == 400)
  }

  @Test("A route can keep the content coding")
  func routesCanKeepTheCoding() async throws {
    let route = Route(.put, "/file", content: ContentRule(keepsCoding: true)) { request in
      let bytes = (try? await request.body.collect(upTo: 1000)) ?? []
      return .text("\(bytes.count) \(request.body.length ?? -1)")
    }
    let router = try Router([route])
    try await ServerFixture.serve(router) { server in
      let texts = try await server.withClient { client in
        try ["gzip", "br"].map { coding in
          try client.request(
            "PUT", "/file", headers: [("Content-Encoding", coding)], body: "as it is"
          ).text
        }
      }
      #expect(texts == ["8 8", "8 8"])
    }
  }

  @Test("The connection stays open after a coding is refused")
  func connectionStaysOpenAfterARefusal() async throws {
    try await ServerFixture.serve(Self.handler, limits: Self.limits) { server in
      let statuses = try await server.withClient { client in
        try client.send(Self.post(Array("what is this".utf8), coding: "br"))
        return [
          try client.response().status, try client.request("POST", "/", body: "x").status,
        ]
      }
      #expect(statuses == [415, 200])
    }
  }
}
