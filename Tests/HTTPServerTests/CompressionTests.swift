import HTTPServer
import HTTPTypes
import HTTPWire
import TestSupport
import Testing

struct CompressionTests {
  private static let json = "[" + (0..<500).map { "{\"id\":\($0)}" }.joined(separator: ",") + "]"

  private let handler = ScriptedHandler { request in
    if request.preconditions.judge(isRead: true, tag: .init("v1")) == .notModified {
      return ServerResponse(
        status: .notModified, fields: [.eTag: "\"v1\""], isCompressible: true)
    }
    let bytes = Array((request.path == "/small" ? "{}" : Self.json).utf8)
    var response = ServerResponse(contentType: "application/json", bytes: bytes)
    response.fields[.eTag] = "\"v1\""
    response.fields[.vary] = "Authorization"
    if request.path == "/as-is" { response.fields[.cacheControl] = "no-transform" }
    return response
  }

  @Test("Text is compressed for a client that accepts it")
  func textIsCompressedIfAccepted() async throws {
    try await ServerFixture.serve(handler) { server in
      let response = try await server.withClient {
        try $0.request("GET", "/", headers: [("Accept-Encoding", "br, gzip")])
      }
      #expect(response["content-encoding"] == "gzip")
      #expect(response["etag"] == "\"v1-gzip\"")
      #expect(response["vary"] == "Authorization, Accept-Encoding")
      #expect(response.body.count < Self.json.utf8.count / 2)
      #expect(response.body.starts(with: [0x1F, 0x8B]))
      // gzip ends in the length of what was compressed.
      let length = response.body.suffix(4).reversed().reduce(0) { $0 << 8 | Int($1) }
      #expect(length == Self.json.utf8.count)
    }
  }

  @Test(
    "An uncompressed variant still has Vary",
    arguments: [("/", "gzip;q=0"), ("/", ""), ("/small", "gzip"), ("/as-is", "gzip")])
  func uncompressedResponsesKeepVary(path: String, accept: String) async throws {
    try await ServerFixture.serve(handler) { server in
      let response = try await server.withClient {
        try $0.request("GET", path, headers: [("Accept-Encoding", accept)])
      }
      #expect(response["content-encoding"] == nil)
      #expect(response["etag"] == "\"v1\"")
      #expect(response["vary"] == "Authorization, Accept-Encoding")
    }
  }

  @Test(
    "The tag of either variant revalidates",
    arguments: ["\"v1\"", "\"v1-gzip\"", "W/\"v1-gzip\""])
  func eitherVariantsTagIsCurrent(tag: String) async throws {
    try await ServerFixture.serve(handler) { server in
      let response = try await server.withClient {
        try $0.request(
          "GET", "/", headers: [("If-None-Match", tag), ("Accept-Encoding", "gzip")])
      }
      #expect(response.status == 304)
      #expect(response["vary"] == "Accept-Encoding")
      #expect(response["etag"] == (tag.contains("gzip") ? "\"v1-gzip\"" : "\"v1\""))
    }
  }

  @Test("Large bodies are compressed off the loop")
  func largeBodiesAreCompressedOffTheLoop() async throws {
    let large = String(repeating: Self.json, count: 100)
    let handler = ScriptedHandler { _ in
      ServerResponse(contentType: "application/json", bytes: Array(large.utf8))
    }
    try await ServerFixture.serve(handler) { server in
      let response = try await server.withClient {
        try $0.request("GET", "/", headers: [("Accept-Encoding", "gzip")])
      }
      let length = response.body.suffix(4).reversed().reduce(0) { $0 << 8 | Int($1) }
      #expect(length == large.utf8.count)
    }
  }
}
