import Foundation
import LosslessJSON
import TestSupport
import Testing

extension Ways {
  /// Files over sockets: what clients send, and what they get.
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
    private static let admin = ("Authorization", "Bearer \(RunningLarder.adminToken)")

    private func started() async throws -> RunningLarder {
      try await RunningLarder.start(settings: Self.settings)
    }

    private func put(
      _ larder: RunningLarder, _ path: String, _ body: String, _ headers: (String, String)...
    ) async throws -> RawResponse {
      try await larder.request(
        "PUT", path, headers: headers + [Self.admin, ("Content-Type", "text/plain")], body: body)
    }

    @Test func storesAndServes() async throws {
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

    @Test func servesLargeObjectsAndRangesOfThem() async throws {
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

    @Test func checksDigestsAndKeepsWhatWasThere() async throws {
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

    @Test func takesAnyKeyAndNoPath() async throws {
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

    @Test func letsInByBucket() async throws {
      let larder = try await started()
      #expect(try await put(larder, "/v1/files/small/k", "x").status == 201)
      #expect(try await put(larder, "/v1/files/mine/u1/k", "x").status == 201)
      #expect(try await larder.get("/v1/files/small/k").status == 401)
      #expect(try await larder.get("/v1/files/small").status == 401)
      let unsigned = try await larder.get("/v1/files/mine/u1/k", ("Authorization", "Bearer opaque"))
      #expect(unsigned.status == 401)
      #expect(unsigned.code == "sign_in_required")
      let written = try await larder.request(
        "PUT", "/v1/files/pics/k", headers: [("Content-Type", "text/plain")], body: "x")
      #expect(written.status == 401)
      let unknown = try await larder.get("/v1/files/nowhere/k")
      #expect(unknown.status == 401)
      let missing = try await larder.get("/v1/files/nowhere/k", Self.admin)
      #expect(missing.status == 404)
      #expect(missing.code == "no_such_bucket")
      await larder.stop()
    }

    @Test func keepsUsersApart() async throws {
      let larder = try await started()
      let ann = try await signUp("ann", in: larder)
      let bob = try await signUp("bob", in: larder)
      let path = "/v1/files/mine/\(ann.id)/k"
      let stored = try await larder.request("PUT", path, headers: [ann.token], body: "hers")
      #expect(stored.status == 201)
      let read = try await larder.get(path, ann.token)
      #expect(read.text == "hers")
      #expect(read["cache-control"] == "private, no-cache")
      #expect(try await larder.get("/v1/files/mine", ann.token).text.contains("/k"))
      for method in ["GET", "HEAD", "PUT", "DELETE"] {
        let tried = try await larder.request(
          method, path, headers: [bob.token], body: method == "PUT" ? "his" : nil)
        #expect(tried.status == 403, "\(method)")
      }
      let copied = try await larder.post("\(path)/copy", "{\"to\":\"\(bob.id)/k\"}", bob.token)
      #expect(copied.status == 403)
      let listed = try await larder.get("/v1/files/mine", bob.token)
      #expect(listed.json?["Contents"]?.array?.isEmpty == true)
      #expect(listed.json?["Prefix"]?.string == "\(bob.id)/")
      #expect(try await larder.get("/v1/files/mine?prefix=\(ann.id)/", bob.token).status == 403)
      #expect(try await larder.get(path).status == 401)
      #expect(try await larder.get(path, Self.admin).text == "hers")
      await larder.stop()
    }

    private func signUp(
      _ name: String, in larder: RunningLarder
    ) async throws -> (id: String, token: (String, String)) {
      let answer = try await larder.post(
        "/v1/auth/sign-up",
        "{\"email\":\"\(name)@example.com\",\"password\":\"correct horse battery staple\"}")
      #expect(answer.status == 201, "\(answer.text)")
      let token = answer.json?["accessToken"]?.string ?? ""
      return (answer.json?["userId"]?.string ?? "", ("Authorization", "Bearer \(token)"))
    }

    @Test func makesAndRemovesBuckets() async throws {
      let larder = try await started()
      let made = try await larder.request("PUT", "/v1/files/fresh", headers: [Self.admin])
      #expect(made.status == 201)
      let again = try await larder.request("PUT", "/v1/files/fresh", headers: [Self.admin])
      #expect(again.status == 409)
      #expect(try await put(larder, "/v1/files/fresh/k", "x").status == 201)
      let list = try await larder.get("/v1/files", Self.admin)
      #expect(list.text.contains("\"fresh\""))
      let full = try await larder.request("DELETE", "/v1/files/fresh", headers: [Self.admin])
      #expect(full.code == "bucket_not_empty")
      _ = try await larder.request("DELETE", "/v1/files/fresh/k", headers: [Self.admin])
      let gone = try await larder.request("DELETE", "/v1/files/fresh", headers: [Self.admin])
      #expect(gone.status == 204)
      await larder.stop()
    }

    @Test func listsPageByPage() async throws {
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

    @Test func holdsQuotas() async throws {
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

    @Test func survivesAClientThatGoesInTheMiddle() async throws {
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

    @Test func refusesWhatIsTooLongBeforeItComes() async throws {
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

    @Test func uploadsInParts() async throws {
      let larder = try await started()
      let path = "/v1/files/pics/film.mp4"
      let begun = try await larder.request(
        "POST", "\(path)/uploads", headers: [Self.admin, ("Content-Type", "video/mp4")])
      #expect(begun.status == 201)
      let id = begun.json?["uploadId"]?.string ?? ""
      let first = String(repeating: "1", count: 5 << 20)
      var parts: [String] = []
      for (number, body) in [(1, first), (2, "end")] {
        let stored = try await put(larder, "\(path)?uploadId=\(id)&partNumber=\(number)", body)
        #expect(stored.status == 200)
        parts.append("{\"partNumber\":\(number),\"etag\":\(quoted(stored["etag"] ?? ""))}")
      }
      let listed = try await larder.get("\(path)?uploadId=\(id)", Self.admin)
      #expect(listed.json?["Parts"]?.array?.count == 2)
      let uploads = try await larder.get("/v1/files/pics?uploads", Self.admin)
      #expect(uploads.json?["Uploads"]?.array?.count == 1)
      let completed = try await larder.post(
        "\(path)?uploadId=\(id)", "{\"parts\":[\(parts.joined(separator: ","))]}", Self.admin)
      #expect(completed.status == 201)
      #expect(completed["etag"]?.hasSuffix("-2\"") == true)
      let read = try await larder.get(path, ("Range", "bytes=-5"))
      #expect(read.text == "11end")
      #expect(read["content-type"] == "video/mp4")
      let over = try await put(larder, "\(path)?uploadId=\(id)&partNumber=1", "x")
      #expect(over.code == "no_such_upload")
      let other = try await larder.request(
        "POST", "\(path)/uploads", headers: [Self.admin])
      let aborted = try await larder.request(
        "DELETE", "\(path)?uploadId=\(other.json?["uploadId"]?.string ?? "")",
        headers: [Self.admin])
      #expect(aborted.status == 204)
      await larder.stop()
    }

    @Test func signsLinks() async throws {
      let larder = try await started()
      let path = "/v1/files/small/caf%C3%A9%3F.txt"
      func link(_ method: String, _ seconds: Int) async throws -> String {
        let answer = try await larder.post(
          "\(path)/presign", "{\"method\":\"\(method)\",\"expiresIn\":\(seconds)}", Self.admin)
        #expect(answer.status == 200)
        let url = answer.json?["url"]?.string ?? ""
        #expect(url.hasPrefix("http://127.0.0.1:\(larder.port)/v1/files/small/"))
        return String(url.dropFirst("http://127.0.0.1:\(larder.port)".count))
      }
      let write = try await link("PUT", 60)
      let stored = try await larder.request(
        "PUT", write, headers: [("Content-Type", "text/plain")], body: "by link")
      #expect(stored.status == 201)
      let read = try await link("GET", 60)
      #expect(try await larder.get(read).text == "by link")
      #expect(try await larder.request("HEAD", read).status == 200)
      for (method, target) in [
        ("DELETE", read), ("PUT", read), ("GET", write), ("GET", read + "x"),
        ("GET", read.replacingOccurrences(of: "caf", with: "cab")),
        ("GET", read.replacingOccurrences(of: "expires=", with: "expires=9")),
      ] {
        let refused = try await larder.request(
          method, target, headers: [("Content-Type", "text/plain")],
          body: method == "PUT" ? "x" : nil)
        #expect(refused.status == 403, "\(method) \(target)")
        #expect(refused.code == "signature_invalid")
      }
      let short = try await link("GET", 1)
      let expired = try await eventually(
        { try await larder.get(short) }, until: { $0.status == 403 })
      #expect(expired.code == "signature_expired")
      await larder.stop()
    }

    @Test func neverActsAsThisService() async throws {
      let larder = try await started()
      for type in ["text/html", "image/svg+xml", "application/xhtml+xml", "TEXT/HTML; charset=x"] {
        _ = try await larder.request(
          "PUT", "/v1/files/pics/p.html", headers: [Self.admin, ("Content-Type", type)],
          body: "<script>alert(1)</script>")
        let read = try await larder.get("/v1/files/pics/p.html")
        #expect(read["content-disposition"] == "attachment; filename*=UTF-8''p.html", "\(type)")
        #expect(read["content-security-policy"] == "sandbox; default-src 'none'")
      }
      await larder.stop()
    }

    @Test func copiesAndWritesByCondition() async throws {
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

    @Test func keepsObjectsOverARestart() async throws {
      let larder = try await started()
      _ = try await put(larder, "/v1/files/pics/k", "kept")
      await larder.stopService()
      try await larder.startService()
      #expect(try await larder.get("/v1/files/pics/k").text == "kept")
      await larder.stop()
    }

    private func quoted(_ tag: String) -> String {
      String(decoding: JSONValue.string(tag).bytes, as: UTF8.self)
    }
  }
}

extension RawResponse {
  fileprivate var json: JSONValue? { try? JSONValue(parsing: body) }
  fileprivate var code: String? { json?["code"]?.string }
}
