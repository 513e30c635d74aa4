import FoundationEssentials
import HTTPServer
import TestSupport
import Testing
import Transport

/// Files compressed beforehand, and requests for several ranges.
struct StaticFileVariantTests {
  /// What stands in the files; served as it is, so it need not be gzip.
  private static let plain = String(repeating: "plain text. ", count: 100)
  private static let coded = "compressed beforehand"

  private static func serve(
    isStale: Bool = false, _ body: (ServerFixture) async throws -> Void
  ) async throws {
    let manager = FileManager.default
    let root = manager.temporaryDirectory.appendingPathComponent(
      "static-variants-\(UInt64.random(in: 0...UInt64.max))")
    try manager.createDirectory(at: root, withIntermediateDirectories: true)
    defer { try? manager.removeItem(at: root) }
    for (name, text) in [
      ("app.js", plain), ("app.js.gz", coded), ("digits.txt", "0123456789"),
      ("orphan.js.gz", coded), ("large.bin", String(repeating: "abcdefgh", count: 100_000)),
    ] {
      try Data(text.utf8).write(to: root.appendingPathComponent(name))
    }
    if isStale {
      try manager.setAttributes(
        [.modificationDate: Date(timeIntervalSince1970: 1_000_000)],
        ofItemAtPath: root.appendingPathComponent("app.js.gz").path)
    }
    let pool = LatePool()
    let handler = ScriptedHandler { request in
      guard let pool = pool.value else { return .text("not ready") }
      return await StaticFiles(root: root.path, pool: pool)
        .respond(to: request, path: String(request.path.dropFirst()))
    }
    try await ServerFixture.serve(handler) { server in
      pool.value = server.group.blockingPool
      try await body(server)
    }
  }

  private static let takesGzip = ("Accept-Encoding", "gzip")

  @Test("The precompressed variant is served to clients that accept it")
  func variantIsServedIfAccepted() async throws {
    try await Self.serve { server in
      let answers = try await server.withClient { client in
        try [[Self.takesGzip], [], [("Accept-Encoding", "gzip;q=0")], [Self.takesGzip]].enumerated()
          .map { try client.request($0 == 3 ? "HEAD" : "GET", "/app.js", headers: $1) }
      }
      #expect(answers.map(\.status) == [200, 200, 200, 200])
      #expect(answers.map(\.text) == [Self.coded, Self.plain, Self.plain, ""])
      #expect(answers.map { $0["content-encoding"] } == ["gzip", nil, nil, "gzip"])
      #expect(answers.allSatisfy { $0["vary"] == "Accept-Encoding" })
      #expect(answers.allSatisfy { $0["content-type"] == "text/javascript; charset=utf-8" })
      #expect(answers[0]["content-length"] == "\(Self.coded.utf8.count)")
      #expect(answers[3]["content-length"] == "\(Self.coded.utf8.count)")
      let tags = answers.compactMap { $0["etag"] }
      #expect(tags.allSatisfy { $0.hasPrefix("\"") })
      #expect(tags[0] != tags[1])
      #expect(tags[1] == tags[2])
    }
  }

  @Test("Each variant revalidates by its own tag")
  func eachVariantIsRevalidatedByItsOwnTag() async throws {
    try await Self.serve { server in
      let answers = try await server.withClient { client in
        let coded = try client.request("GET", "/app.js", headers: [Self.takesGzip])["etag"] ?? ""
        let plain = try client.request("GET", "/app.js")["etag"] ?? ""
        return [
          try client.request(
            "GET", "/app.js", headers: [Self.takesGzip, ("If-None-Match", coded)]),
          try client.request("GET", "/app.js", headers: [("If-None-Match", plain)]),
          try client.request("GET", "/app.js", headers: [("If-None-Match", coded)]),
          try client.request("GET", "/app.js", headers: [Self.takesGzip, ("If-Match", coded)]),
          try client.request("GET", "/app.js", headers: [Self.takesGzip, ("If-Match", "\"x\"")]),
        ]
      }
      #expect(answers.map(\.status) == [304, 304, 200, 200, 412])
      #expect(answers[0]["etag"]?.hasSuffix("-gzip\"") == true)
      #expect(answers[0]["vary"] == "Accept-Encoding")
      #expect(answers[2].text == Self.plain)
    }
  }

  /// A range is one of the plain file, unless the client shows that it has the variant.
  @Test("A range belongs to one representation")
  func rangesKeepToTheirRepresentation() async throws {
    try await Self.serve { server in
      let answers = try await server.withClient { client in
        let coded = try client.request("GET", "/app.js", headers: [Self.takesGzip])["etag"] ?? ""
        let plain = try client.request("GET", "/app.js")["etag"] ?? ""
        let range = ("Range", "bytes=0-4")
        return [
          try client.request("GET", "/app.js", headers: [Self.takesGzip, range]),
          try client.request(
            "GET", "/app.js", headers: [Self.takesGzip, range, ("If-Range", plain)]),
          try client.request(
            "GET", "/app.js", headers: [Self.takesGzip, range, ("If-Range", coded)]),
          try client.request(
            "GET", "/app.js", headers: [Self.takesGzip, range, ("If-Range", "\"old\"")]),
        ]
      }
      #expect(answers.map(\.status) == [206, 206, 206, 200])
      #expect(answers.map { $0["content-encoding"] } == [nil, nil, "gzip", nil])
      #expect(answers.prefix(3).map(\.text) == ["plain", "plain", "compr"])
      #expect(answers[2]["content-range"] == "bytes 0-4/\(Self.coded.utf8.count)")
    }
  }

  @Test("A variant older than its file is not served")
  func staleVariantIsNotServed() async throws {
    try await Self.serve(isStale: true) { server in
      let text = try await server.withClient { client in
        try client.request("GET", "/app.js", headers: [("Accept-Encoding", "gzip, identity;q=0")])
      }
      #expect(text.text != Self.coded)
    }
  }

  @Test("A variant without its file is not found")
  func variantWithoutItsFileIsNotFound() async throws {
    try await Self.serve { server in
      let statuses = try await server.withClient { client in
        try ["/orphan.js", "/orphan.js.gz"].map {
          try client.request("GET", $0, headers: [Self.takesGzip]).status
        }
      }
      #expect(statuses == [404, 200])
    }
  }

  @Test("Several ranges are sent as multipart")
  func severalRangesAreMultipart() async throws {
    try await Self.serve { server in
      let response = try await server.withClient {
        try $0.request("GET", "/digits.txt", headers: [("Range", "bytes=0-1, 4-5, -1")])
      }
      #expect(response.status == 206)
      #expect(response["content-range"] == nil)
      let type = try #require(response["content-type"])
      let prefix = "multipart/byteranges; boundary="
      #expect(type.hasPrefix(prefix))
      let boundary = String(type.dropFirst(prefix.count))
      let parts = [("0-1", "01"), ("4-5", "45"), ("9-9", "9")].map { range, text in
        "\r\n--\(boundary)\r\nContent-Type: text/plain; charset=utf-8\r\n"
          + "Content-Range: bytes \(range)/10\r\n\r\n\(text)"
      }
      #expect(response.text == parts.joined() + "\r\n--\(boundary)--\r\n")
    }
  }

  @Test("Parts of a large file are streamed")
  func partsOfALargeFileAreStreamed() async throws {
    try await Self.serve { server in
      let response = try await server.withClient {
        try $0.request("GET", "/large.bin", headers: [("Range", "bytes=0-199999,400000-599999")])
      }
      #expect(response.status == 206)
      let half = String(repeating: "abcdefgh", count: 25_000)
      #expect(response.text.split(separator: half, omittingEmptySubsequences: false).count == 3)
    }
  }

  /// As many bytes as asked for would be sent many times over: whole is less.
  @Test(
    "Excessive ranges get the whole file",
    arguments: [
      "bytes=0-,0-,0-", "bytes=0-0,0-0,0-0,0-0", "bytes=9-9,7-7,5-5,3-3",
      "bytes=" + (0..<17).map { "\($0 % 5)-\($0 % 5)" }.joined(separator: ","),
      "bytes=" + String(repeating: "0-1,", count: 1000) + "2-3",
      "bytes=0-4,5-9", "bytes=0-1,x", "lines=1-2",
    ])
  func excessiveRangesGetTheWholeFile(range: String) async throws {
    try await Self.serve { server in
      let response = try await server.withClient {
        try $0.request("GET", "/digits.txt", headers: [("Range", range)])
      }
      #expect(response.status == 200)
      #expect(response.text == "0123456789")
    }
  }
}
