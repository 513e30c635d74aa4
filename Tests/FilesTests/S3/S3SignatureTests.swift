import Files
import Foundation
import HTTPClient
import HTTPTypes
import HTTPWire
import Model
import S3Wire
import TestSupport
import Testing

@testable import S3FileStore

/// Signatures, verified by an independent server.
@Suite(.enabled(if: PeerServer.environment != nil, Comment(rawValue: PeerServer.whyNot)))
struct S3SignatureTests {
  private static let rclone = Result {
    try PeerServer(
      "rclone",
      [
        "serve", "s3", "--addr", "127.0.0.1:0", "--config", "/dev/null", "--auth-key",
        "\(S3Fixture.key.id),\(S3Fixture.key.secret)",
        try TestFolder.untilExit("rclone").path,
      ], marker: "http://127.0.0.1:")
  }

  private static let keys = [
    "plain", "a b", "a+b", "a%2Fb", "caf\u{E9}", "日本/語", "👩‍👩‍👧", "~a'b(c)!*", "a&b=c;d,e:f@g$",
    "q?x#y",
    "deep/er/key.txt", "\"quoted\"", "<tag>", "per%cent", "back\\slash", "[x]{y}|^`",
  ]

  @Test("Requests for any key are signed correctly", arguments: keys)
  func signsAnyKey(_ key: String) async throws {
    try await S3Fixture.run(on: try Self.rclone.get()) { fixture in
      let it = try await fixture.contract()
      let attributes = ObjectAttributes(contentType: "text/plain", custom: ["a": " b  c "])
      try await it.put([1, 2, 3], at: key, attributes: attributes)
      #expect(try await it.bytes(key) == [1, 2, 3])
      // The response is 200 with a Content-Range.
      #expect(try await it.bytes(key, range: .closed(1, 1)) == [2])
      #expect(try await it.keys(ObjectListRequest()) == [key])
      _ = try await it.store.copy(
        try it.address(key), if: nil, to: try it.address("copy"), attributes: nil, CopyWrite())
      #expect(try await it.bytes("copy") == [1, 2, 3])
      #expect(try await it.store.delete(try it.address(key), if: .none))
    }
  }

  @Test("Presigned URLs work for any key", arguments: keys)
  func presignsAnyKey(_ key: String) async throws {
    try await S3Fixture.run(on: try Self.rclone.get()) { fixture in
      let it = try await fixture.contract()
      try await it.put([1, 2, 3], at: key)
      let origin = fixture.settings.endpoint.origin
      let path = "/\(it.bucket.text)/\(S3Encoding.path(key))"
      let query = RequestSigner(
        accessKey: S3Fixture.key.id, secretKey: S3Fixture.key.secret
      ).presignedQuery(
        method: "GET", path: path, host: origin.authority,
        at: SignatureTime(
          HTTPDate(secondsSince1970: TestClock.wall.now().milliseconds / 1000)),
        lifetimeSeconds: 60, region: "us-east-1")
      let status = { (query: String) async throws in
        try await fixture.http.execute(
          HTTPClientRequest(
            method: .get, url: HTTPURL(origin: origin, target: "\(path)?\(query)"))
        ).status.code
      }
      #expect(try await status(query) == 200)
      #expect(try await status(query.replacing("Expires=60", with: "Expires=61")) == 403)
    }
  }

  @Test("A wrong secret is denied")
  func deniesWrongSecret() async throws {
    let key = (id: S3Fixture.key.id, secret: "other")
    try await S3Fixture.run(on: try Self.rclone.get(), key: key) { fixture in
      await #expect(throws: FileStoreError.denied) { _ = try await fixture.store.buckets() }
    }
  }

  @Test("Content is signed in every mode")
  func signsContent() async throws {
    try await S3Fixture.run(on: try Self.rclone.get()) { fixture in
      let it = try await fixture.contract()
      for count in [0, 1, 6_000_000, 12_000_000] {
        let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        try await it.put(bytes, at: "k\(count)")
        #expect(try await it.bytes("k\(count)") == bytes)
      }
    }
  }
}
