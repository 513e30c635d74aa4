import HTTPTypes
import Testing

@testable import HTTPClient

struct DecodingTests {
  private static func reply(_ body: [UInt8], coding: String) -> ScriptedServer.Reply {
    let head =
      "HTTP/1.1 200 OK\r\nContent-Encoding: \(coding)\r\nContent-Length: \(body.count)\r\n\r\n"
    return .keep(Array(head.utf8) + body)
  }

  @Test(
    "Codings requested by the client are decoded",
    arguments: [
      ("films.json.gz", "gzip"), ("films.json.gz", "X-GZip"), ("films.json.members.gz", "gzip"),
      ("films.json.zlib", "deflate"), ("films.json.raw", "deflate"), ("films.json", "identity"),
    ])
  func decodesCodings(file: String, coding: String) async throws {
    let coded = try Fixture.bytes(file)
    try await ClientSetting.run { _ in
      Self.reply(coded, coding: coding)
    } body: { setting in
      let answer = try await setting.client.execute(setting.request())
      let plain = try Fixture.bytes("films.json")
      #expect(answer.body == plain)
      if coding != "identity" {
        #expect(answer.fields[.contentEncoding] == nil)
        #expect(answer.fields[.contentLength] == nil)
      }
    }
  }

  @Test("Codings requested by the caller are kept")
  func keepsCodingsRequestedByTheCaller() async throws {
    let coded = try Fixture.bytes("films.json.gz")
    try await ClientSetting.run { _ in
      Self.reply(coded, coding: "gzip")
    } body: { setting in
      let answer = try await setting.client.execute(
        setting.request(fields: [.acceptEncoding: "gzip"]))
      #expect(answer.body == coded)
      #expect(answer.fields[.contentEncoding] == "gzip")
    }
  }

  @Test("The decoded size is limited")
  func limitsDecodedSize() async throws {
    let bomb = try Fixture.bytes("zeros-4MiB.gz")
    try await ClientSetting.run { _ in
      Self.reply(bomb, coding: "gzip")
    } body: { setting in
      // The absolute limit first, then the ratio.
      #expect(
        await setting.failure(setting.request(responseBytesMax: 1 << 20)) == .responseTooLarge)
      #expect(
        await setting.failure(setting.request(responseBytesMax: 1 << 24)) == .responseTooLarge)
    }
  }

  @Test("A truncated coding is an error")
  func truncatedCodingFails() async throws {
    let coded = try Fixture.bytes("films.json.gz")
    try await ClientSetting.run { _ in
      Self.reply(Array(coded.dropLast(4)), coding: "gzip")
    } body: { setting in
      #expect(await setting.failure() == .responseUndecodable)
    }
  }

  @Test("A response without a body can name a coding")
  func bodylessResponsesCanNameACoding() async throws {
    try await ClientSetting.run { request in
      request.method == "HEAD"
        ? .keep("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 99\r\n\r\n")
        : .keep("HTTP/1.1 304 Not Modified\r\nContent-Encoding: gzip\r\n\r\n")
    } body: { setting in
      let head = try await setting.client.execute(setting.request(method: .head))
      #expect(head.fields[.contentEncoding] == "gzip")
      let cached = try await setting.client.execute(setting.request())
      #expect(cached.status == .notModified)
    }
  }
}
