import Foundation
import LosslessJSON
import TestSupport
import Testing

extension Ways {
  /// Requests for files and their responses, over sockets.
  struct FileTests {
    private static let settings = """
      files:
        buckets:
          pics:
            access: public-read
          small:
            access: admin
            quota: 1000B
          mine:
            access: user
      """
    static let admin = ("Authorization", "Bearer \(RunningLarder.adminToken)")

    func started() async throws -> RunningLarder {
      try await RunningLarder.start(settings: Self.settings)
    }

    func put(
      _ larder: RunningLarder, _ path: String, _ body: String, _ headers: (String, String)...
    ) async throws -> RawResponse {
      try await larder.request(
        "PUT", path, headers: headers + [Self.admin, ("Content-Type", "text/plain")], body: body)
    }

    @Test("An object is stored, served with validators and deleted")
    func storesAndServes() async throws {
      let larder = try await started()
      let stored = try await put(
        larder, "/v1/files/pics/a/b.txt", "hello", ("x-amz-meta-colour", "blue"))
      #expect(stored.status == 201)
      #expect(stored["etag"] == "\"5d41402abc4b2a76b9719d911017c592\"")
      #expect(stored["location"] == "/v1/files/pics/a/b.txt")
      let read = try await larder.get("/v1/files/pics/a/b.txt")
      #expect(read.status == 200)
      #expect(read.text == "hello")
      #expect(read["etag"] == stored["etag"])
      #expect(read["content-type"] == "text/plain")
      #expect(read["x-amz-meta-colour"] == "blue")
      #expect(read["content-security-policy"] == "sandbox; default-src 'none'")
      #expect(read["x-content-type-options"] == "nosniff")
      #expect(read["content-disposition"] == nil)
      #expect(read["accept-ranges"] == "bytes")
      let head = try await larder.request("HEAD", "/v1/files/pics/a/b.txt")
      #expect(head.status == 200)
      #expect(head["content-length"] == "5")
      let unchanged = try await larder.get(
        "/v1/files/pics/a/b.txt", ("If-None-Match", read["etag"] ?? ""))
      #expect(unchanged.status == 304)
      #expect(unchanged["etag"] == read["etag"])
      #expect(unchanged.body.isEmpty)
      let since = try await larder.get(
        "/v1/files/pics/a/b.txt", ("If-Modified-Since", read["last-modified"] ?? ""))
      #expect(since.status == 304)
      let replaced = try await put(larder, "/v1/files/pics/a/b.txt", "other")
      #expect(replaced.status == 200)
      #expect(try await larder.get("/v1/files/pics/a/b.txt").text == "other")
      let removed = try await larder.request(
        "DELETE", "/v1/files/pics/a/b.txt", headers: [Self.admin])
      #expect(removed.status == 204)
      let gone = try await larder.get("/v1/files/pics/a/b.txt")
      #expect(gone.status == 404)
      #expect(gone.code == "not_found")
      await larder.stop()
    }

    @Test("Large objects and ranges of them are served")
    func servesLargeObjectsAndRangesOfThem() async throws {
      let larder = try await started()
      let content = (0..<200_000).map { String($0 % 10) }.joined()
      #expect(try await put(larder, "/v1/files/pics/large", content).status == 201)
      let whole = try await larder.get("/v1/files/pics/large")
      #expect(whole.text == content)
      let tag = whole["etag"] ?? ""
      let part = try await larder.get("/v1/files/pics/large", ("Range", "bytes=100000-100009"))
      #expect(part.status == 206)
      #expect(part.text == "0123456789")
      #expect(part["content-range"] == "bytes 100000-100009/200000")
      #expect(part["etag"] == tag)
      let end = try await larder.get("/v1/files/pics/large", ("Range", "bytes=-5"))
      #expect(end.text == "56789")
      let beyond = try await larder.get("/v1/files/pics/large", ("Range", "bytes=200000-"))
      #expect(beyond.status == 416)
      #expect(beyond["content-range"] == "bytes */200000")
      #expect(beyond.code == "range_not_satisfiable")
      let several = try await larder.get("/v1/files/pics/large", ("Range", "bytes=0-1,10-11"))
      #expect(several.status == 206)
      #expect(several["content-type"]?.hasPrefix("multipart/byteranges") == true)
      #expect(several.text.contains("bytes 10-11/200000"))
      // A small object comes from memory; its response is the same.
      #expect(try await put(larder, "/v1/files/pics/little", "0123456789").status == 201)
      for _ in 0..<2 {
        let little = try await larder.get("/v1/files/pics/little", ("Range", "bytes=0-1,4-5"))
        #expect(little.status == 206)
        #expect(little.text.contains("bytes 0-1/10") && little.text.contains("bytes 4-5/10"))
        #expect(try await larder.get("/v1/files/pics/little").text == "0123456789")
      }
      let same = try await larder.get(
        "/v1/files/pics/large", ("Range", "bytes=0-1"), ("If-Range", tag))
      #expect(same.status == 206)
      let other = try await larder.get(
        "/v1/files/pics/large", ("Range", "bytes=0-1"), ("If-Range", "\"other\""))
      #expect(other.status == 200)
      let failed = try await larder.get("/v1/files/pics/large", ("If-Match", "\"other\""))
      #expect(failed.status == 412)
      await larder.stop()
    }

    @Test("A body with a wrong digest is refused, and the old object stays")
    func wrongDigestKeepsTheOldObject() async throws {
      let larder = try await started()
      let path = "/v1/files/pics/k"
      #expect(try await put(larder, path, "before").status == 201)
      for (name, value) in [
        ("Content-MD5", "1B2M2Y8AsgTpgAmY7PhCfg=="),
        ("x-amz-checksum-sha256", "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="),
        ("Digest", "sha-256=47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="),
        ("Content-Digest", "sha-256=:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=:"),
        ("x-amz-checksum-crc32", "AAAAAA=="),
      ] {
        let refused = try await put(larder, path, "after", (name, value))
        #expect(refused.status == 400, "\(name)")
        #expect(refused.code == "digest_mismatch", "\(name)")
      }
      let malformed = try await put(larder, path, "after", ("Content-MD5", "nonsense"))
      #expect(malformed.code == "malformed_request")
      #expect(try await larder.get(path).text == "before")
      let right = try await put(
        larder, path, "123456789", ("x-amz-checksum-crc32", "y/Q5Jg=="),
        ("Content-MD5", "JfnnlDI7RTiF9RgfG2JNCw=="))
      #expect(right.status == 200)
      #expect(try await larder.get(path)["x-amz-checksum-crc32"] == "y/Q5Jg==")
      await larder.stop()
    }

    @Test("Any key is accepted, and no key becomes a path on disk")
    func keysAreNotPaths() async throws {
      let larder = try await started()
      for (encoded, key) in [
        ("caf%C3%A9", "café"), ("a//b", "a//b"), ("a%2Fb%20c+d", "a/b c+d"), ("...", "..."),
        ("%E6%97%A5/%F0%9F%98%80", "日/😀"), (String(repeating: "a/", count: 500) + "z", nil),
      ] as [(String, String?)] {
        let stored = try await put(larder, "/v1/files/pics/\(encoded)", encoded)
        #expect(stored.status == 201, "\(encoded)")
        if let key { #expect(stored.json?["key"]?.string == key) }
        #expect(try await larder.get("/v1/files/pics/\(encoded)").text == encoded)
      }
      for encoded in [
        "..", "a/../b", "%2e%2e/etc/passwd", "a/.", "a%00b", "a%0Ab", "%ff",
        String(repeating: "a", count: 1025),
      ] {
        let refused = try await put(larder, "/v1/files/pics/\(encoded)", "x")
        #expect(refused.status == 400, "\(encoded)")
        #expect(refused.code == "key_invalid", "\(encoded)")
      }
      for bucket in ["No", "a_b", "..", "1.2.3.4"] {
        let refused = try await put(larder, "/v1/files/\(bucket)/k", "x")
        #expect(refused.code == "bucket_invalid", "\(bucket)")
      }
      await larder.stop()
    }

    @Test("A listing is paged")
    func listsPageByPage() async throws {
      let larder = try await started()
      for key in ["a", "b/1", "b/2", "c"] {
        _ = try await put(larder, "/v1/files/pics/\(key)", "x")
      }
      let first = try await larder.get("/v1/files/pics?delimiter=/&max-keys=2")
      #expect(first.json?["Contents"]?.array?.first?["Key"]?.string == "a")
      #expect(first.json?["CommonPrefixes"]?.array?.first?["Prefix"]?.string == "b/")
      #expect(first.json?["IsTruncated"]?.bool == true)
      let token = first.json?["NextContinuationToken"]?.string ?? ""
      let second = try await larder.get(
        "/v1/files/pics?delimiter=/&max-keys=2&continuation-token=\(token)")
      #expect(second.json?["Contents"]?.array?.map { $0["Key"]?.string } == ["c"])
      #expect(second.json?["IsTruncated"]?.bool == false)
      let bad = try await larder.get("/v1/files/pics?continuation-token=%21")
      #expect(bad.status == 400)
      await larder.stop()
    }

    @Test("Quotas of buckets and owners are enforced")
    func enforcesQuotas() async throws {
      let larder = try await started()
      let large = String(repeating: "x", count: 1001)
      let refused = try await put(larder, "/v1/files/small/k", large)
      #expect(refused.status == 413)
      #expect(refused.code == "quota_exceeded")
      let port = larder.port
      let chunked = try await onOwnThread {
        let client = try RawClient(port: port)
        try client.send(
          "PUT /v1/files/small/k HTTP/1.1\r\nHost: x\r\nAuthorization: \(Self.admin.1)\r\n"
            + "Transfer-Encoding: chunked\r\n\r\n3e9\r\n\(large)\r\n0\r\n\r\n")
        return try client.response()
      }
      #expect(chunked.code == "quota_exceeded")
      #expect(try await larder.get("/v1/files/small/k", Self.admin).status == 404)
      await larder.stop()
    }

    @Test("An upload that its client breaks off leaves nothing")
    func abortedUploadLeavesNothing() async throws {
      let larder = try await started()
      let path = "/v1/files/pics/k"
      _ = try await put(larder, path, "before")
      let port = larder.port
      for _ in 0..<5 {
        try await onOwnThread {
          let client = try RawClient(port: port)
          try client.send(
            "PUT \(path) HTTP/1.1\r\nHost: x\r\nAuthorization: \(Self.admin.1)\r\n"
              + "Content-Length: 1000000\r\n\r\n")
          try client.send([UInt8](repeating: 1, count: 300_000))
        }
      }
      let incoming = "\(larder.folder)/data/files/incoming"
      let left = try await eventually(
        { try FileManager.default.contentsOfDirectory(atPath: incoming) }, until: \.isEmpty)
      #expect(left == [])
      #expect(try await larder.get(path).text == "before")
      await larder.stop()
    }

    @Test("A body that is too long is refused before it is sent")
    func refusesOversizeBodiesEarly() async throws {
      let larder = try await started()
      let port = larder.port
      let answer = try await onOwnThread {
        let client = try RawClient(port: port)
        try client.send(
          "PUT /v1/files/pics/k HTTP/1.1\r\nHost: x\r\nAuthorization: \(Self.admin.1)\r\n"
            + "Content-Length: 6000000000\r\nExpect: 100-continue\r\n\r\n")
        return try client.response()
      }
      #expect(answer.status == 413)
      await larder.stop()
    }

    @Test("Copies and writes obey their conditions")
    func conditionalCopiesAndWrites() async throws {
      let larder = try await started()
      _ = try await put(larder, "/v1/files/pics/a", "one")
      let copied = try await larder.post("/v1/files/pics/a/copy", "{\"to\":\"b/c\"}", Self.admin)
      #expect(copied.status == 201)
      #expect(try await larder.get("/v1/files/pics/b/c").text == "one")
      let elsewhere = try await larder.post(
        "/v1/files/pics/a/copy", "{\"to\":{\"bucket\":\"small\",\"key\":\"k\"}}", Self.admin)
      #expect(elsewhere.status == 201)
      let taken = try await put(larder, "/v1/files/pics/a", "two", ("If-None-Match", "*"))
      #expect(taken.status == 412)
      let stale = try await put(larder, "/v1/files/pics/a", "two", ("If-Match", "\"stale\""))
      #expect(stale.status == 412)
      let known = try await put(
        larder, "/v1/files/pics/a", "two", ("If-Match", copied["etag"] ?? ""))
      #expect(known.status == 200)
      await larder.stop()
    }

    @Test("Objects survive a restart")
    func objectsSurviveARestart() async throws {
      let larder = try await started()
      _ = try await put(larder, "/v1/files/pics/k", "kept")
      await larder.stopService()
      try await larder.startService()
      #expect(try await larder.get("/v1/files/pics/k").text == "kept")
      await larder.stop()
    }

    func quoted(_ tag: String) -> String {
      String(decoding: JSONValue.string(tag).bytes, as: UTF8.self)
    }
  }
}

extension RawResponse {
  var json: JSONValue? { try? JSONValue(parsing: body) }
  var code: String? { json?["code"]?.string }
}
