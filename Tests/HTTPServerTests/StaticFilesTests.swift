import FoundationEssentials
import Glibc
import HTTPServer
import TestSupport
import Testing
import Transport

struct StaticFilesTests {
  /// A folder with some files, removed when the test is over.
  private static func withFolder(_ body: (String) async throws -> Void) async throws {
    let manager = FileManager.default
    let root = manager.temporaryDirectory.appendingPathComponent(
      "static-files-\(UInt64.random(in: 0...UInt64.max))")
    try manager.createDirectory(
      at: root.appendingPathComponent("sub"), withIntermediateDirectories: true)
    defer { try? manager.removeItem(at: root) }
    let files = [
      "index.html": "<p>start</p>", "sub/index.html": "<p>sub</p>", "a.txt": "0123456789",
      ".secret": "no", "big.bin": String(repeating: "abcdefgh", count: 100_000),
      "page.html": String(repeating: "<p>text</p>", count: 1000),
    ]
    for (name, content) in files {
      try Data(content.utf8).write(to: root.appendingPathComponent(name))
    }
    try await body(root.path)
  }

  private static func serve(
    limits: ServerLimits = ServerLimits(), hugeFileBytes: Int? = nil,
    _ body: (ServerFixture) async throws -> Void
  ) async throws {
    try await withFolder { root in
      if let hugeFileBytes {
        // Without blocks on the disk.
        _ = FileManager.default.createFile(atPath: "\(root)/huge.bin", contents: nil)
        #expect(truncate("\(root)/huge.bin", hugeFileBytes) == 0)
      }
      let pool = LatePool()
      let handler = ScriptedHandler { request in
        guard let pool = pool.value else { return .text("not ready") }
        let path = String(request.path.dropFirst()).replacing("%2e", with: ".")
        return await StaticFiles(root: root, pool: pool).respond(to: request, path: path)
      }
      try await ServerFixture.serve(handler, limits: limits) { server in
        pool.value = server.group.blockingPool
        try await body(server)
      }
    }
  }

  private static var impatient: ServerLimits {
    var limits = ServerLimits()
    limits.transferStallMax = .milliseconds(800)
    limits.transferBytesPerSecondMin = 1 << 20
    return limits
  }

  @Test("A client that does not read a file is disconnected")
  func clientThatDoesNotReadAFileIsReset() async throws {
    let bytes = 64 << 20
    try await Self.serve(limits: Self.impatient, hugeFileBytes: bytes) { server in
      let port = server.port
      try await server.group.blockingPool.run { () throws -> Void in
        let peer = try BytePeer(port: port, receiveBufferBytes: 4096)
        peer.send("GET /huge.bin HTTP/1.1\r\nHost: x\r\n\r\n")
        try peer.receiveFirst()
        let deadline = ContinuousClock.now + .seconds(10)
        while server.service.connectionCount > 0, ContinuousClock.now < deadline { sched_yield() }
        #expect(server.service.connectionCount == 0)
        try peer.receiveToEnd()
        #expect(peer.received.count < bytes)
      }
    }
  }

  @Test("Files have a media type and validators")
  func filesComeWithTypeAndValidators() async throws {
    try await Self.serve { server in
      let responses = try await server.withClient { client in
        try ["/a.txt", "/", "/sub/", "/big.bin"].map { try client.request("GET", $0) }
      }
      #expect(responses.map(\.status) == [200, 200, 200, 200])
      #expect(responses[0].text == "0123456789")
      #expect(responses[0]["content-type"] == "text/plain; charset=utf-8")
      #expect(responses[0]["etag"]?.hasPrefix("\"") == true)
      #expect(responses[0]["last-modified"]?.hasSuffix(" GMT") == true)
      #expect(responses[1].text == "<p>start</p>")
      #expect(responses[2].text == "<p>sub</p>")
      #expect(responses[3].text == String(repeating: "abcdefgh", count: 100_000))
    }
  }

  @Test(
    "Other paths are not found",
    arguments: [
      "/none", "/../a.txt", "/sub/../a.txt", "/.secret", "/sub//index.html", "/a.txt/",
      "/%2e%2e/a.txt",
      "/sub/./index.html",
    ])
  func otherPathsAreNotFound(path: String) async throws {
    try await Self.serve { server in
      let status = try await server.withClient { try $0.request("GET", path).status }
      #expect(status == 404)
    }
  }

  @Test("A folder redirects to its path with a slash")
  func foldersRedirectToTheirSlash() async throws {
    try await Self.serve { server in
      let response = try await server.withClient { try $0.request("GET", "/sub") }
      #expect(response.status == 308)
      #expect(response["location"] == "/sub/")
    }
  }

  @Test("Cached copies are revalidated")
  func copiesAreRevalidated() async throws {
    try await Self.serve { server in
      let statuses = try await server.withClient { client in
        let first = try client.request("GET", "/a.txt")
        let tag = first["etag"] ?? ""
        let date = first["last-modified"] ?? ""
        return [
          try client.request("GET", "/a.txt", headers: [("If-None-Match", tag)]).status,
          try client.request("HEAD", "/a.txt", headers: [("If-Modified-Since", date)]).status,
          try client.request("GET", "/a.txt", headers: [("If-None-Match", "\"x\"")]).status,
          try client.request("GET", "/a.txt", headers: [("If-Match", "\"x\"")]).status,
        ]
      }
      #expect(statuses == [304, 304, 200, 412])
    }
  }

  @Test("A single range is served")
  func singleRangesAreServed() async throws {
    try await Self.serve { server in
      let parts = try await server.withClient { client in
        try ["bytes=2-4", "bytes=-3", "bytes=8-99", "bytes=0-1,4-5", "bytes=10-"].map {
          try client.request("GET", "/a.txt", headers: [("Range", $0)])
        }
      }
      #expect(parts.map(\.status) == [206, 206, 206, 206, 416])
      #expect(parts.prefix(3).map(\.text) == ["234", "789", "89"])
      #expect(parts[0]["content-range"] == "bytes 2-4/10")
      #expect(parts[4]["content-range"] == "bytes */10")
      let large = try await server.withClient {
        try $0.request("GET", "/big.bin", headers: [("Range", "bytes=8-400007")])
      }
      #expect(large.text == String(repeating: "abcdefgh", count: 50_000))
    }
  }

  @Test("A range of another version is ignored")
  func rangesOfAnotherVersionAreIgnored() async throws {
    try await Self.serve { server in
      let statuses = try await server.withClient { client in
        let tag = try client.request("GET", "/a.txt")["etag"] ?? ""
        return try [tag, "\"other\"", "W/" + tag].map {
          try client.request("GET", "/a.txt", headers: [("Range", "bytes=0-1"), ("If-Range", $0)])
            .status
        }
      }
      #expect(statuses == [206, 200, 200])
    }
  }

  @Test("Text files are compressed")
  func pagesAreCompressed() async throws {
    try await Self.serve { server in
      let response = try await server.withClient {
        try $0.request("GET", "/page.html", headers: [("Accept-Encoding", "gzip")])
      }
      #expect(response["content-encoding"] == "gzip")
      #expect(response["etag"]?.hasSuffix("-gzip\"") == true)
    }
  }
}
