import TestSupport
import Testing

extension Ways {
  /// Conditions on objects, through S3 and through `/v1/files`: an unreadable one never lets a write through.
  struct S3ConditionTests {
    private static let settings = """
      files:
        buckets:
          plain:
            access: admin
      """
    private static let admin = ("Authorization", "Bearer \(RunningLarder.adminToken)")
    /// The entity tag of `hello`.
    private static let tag = "5d41402abc4b2a76b9719d911017c592"
    private static let unreadable = [
      "\"unclosed", "un\"quoted", "a b", "\"a\" \"b\"", "*, \"a\"", ",", "",
    ]

    @Test("An S3 write with a failed or unreadable condition changes nothing")
    func s3WritesObeyConditions() async throws {
      let larder = try await RunningLarder.start(settings: Self.settings)
      let client = try await SignedClient.issue(larder)
      let path = "/s3/plain/k"
      #expect(try await client.ask("PUT", path, body: "hello").status == 200)
      let refused =
        ["badetag", "\"badetag\"", "W/\"\(Self.tag)\"", "other, \"another\""].map {
          ("If-Match", $0)
        } + ["*", Self.tag, "\"\(Self.tag)\"", "x, \(Self.tag)"].map { ("If-None-Match", $0) }
      for condition in refused {
        for (method, body) in [("PUT", "other"), ("DELETE", nil)] {
          let answer = try await client.ask(method, path, [condition], body: body)
          #expect(answer.status == 412, "\(method) \(condition)")
        }
      }
      for value in Self.unreadable {
        for name in ["If-Match", "If-None-Match"] {
          for (method, body) in [("PUT", "other"), ("DELETE", nil)] {
            let answer = try await client.ask(method, path, [(name, value)], body: body)
            #expect(answer.status == 400, "\(method) \(name): \(value)")
          }
        }
      }
      #expect(try await client.ask("GET", path).text == "hello")
      for name in ["if-match", "if-none-match"] {
        let condition = name == "if-match" ? "badetag" : Self.tag
        let copy = try await client.ask(
          "PUT", "/s3/plain/copy",
          [("x-amz-copy-source", "plain/k"), ("x-amz-copy-source-\(name)", condition)])
        #expect(copy.status == 412, "\(name)")
      }
      let unreadable = try await client.ask(
        "PUT", "/s3/plain/copy",
        [("x-amz-copy-source", "plain/k"), ("x-amz-copy-source-if-match", "\"a")])
      #expect(unreadable.status == 412)
      #expect(try await client.ask("GET", "/s3/plain/copy").status == 404)
      let allowed = try await client.ask("PUT", path, [("If-Match", Self.tag)], body: "hello")
      #expect(allowed.status == 200)
      let created = try await client.ask(
        "PUT", "/s3/plain/new", [("If-None-Match", "other")], body: "x")
      #expect(created.status == 200)
      for condition in ["x-amz-if-match-size", "x-amz-if-match-last-modified-time"] {
        let answer = try await client.ask("DELETE", path, [(condition, "1")])
        #expect(answer.s3Code == "NotImplemented")
      }
      #expect(try await client.ask("GET", path).text == "hello")
      await larder.stop()
    }

    @Test("S3 reads accept unquoted entity tags")
    func s3ReadsAcceptUnquotedTags() async throws {
      let larder = try await RunningLarder.start(settings: Self.settings)
      let client = try await SignedClient.issue(larder)
      let path = "/s3/plain/k"
      #expect(try await client.ask("PUT", path, body: "hello").status == 200)
      for method in ["GET", "HEAD"] {
        for (condition, status) in [
          (("If-None-Match", Self.tag), 304), (("If-None-Match", "other"), 200),
          (("If-Match", Self.tag), 200), (("If-Match", "badetag"), 412),
          (("If-Match", "\"a"), 412), (("If-None-Match", "\"a"), 200),
        ] {
          let answer = try await client.ask(method, path, [condition])
          #expect(answer.status == status, "\(method) \(condition)")
        }
      }
      await larder.stop()
    }

    @Test("A write to /v1/files with an unreadable condition is refused")
    func fileWritesRefuseUnreadableConditions() async throws {
      let larder = try await RunningLarder.start(settings: Self.settings)
      let path = "/v1/files/plain/k"
      let type = ("Content-Type", "text/plain")
      func send(
        _ method: String, _ condition: (String, String)?, body: String?
      ) async throws -> RawResponse {
        try await larder.request(
          method, path, headers: [Self.admin, type] + [condition].compactMap { $0 }, body: body)
      }
      #expect(try await send("PUT", nil, body: "hello").status == 201)
      for (method, body) in [("PUT", "other"), ("DELETE", nil)] {
        for value in Self.unreadable + ["stale-unquoted"] {
          for name in ["If-Match", "If-None-Match"] {
            let answer = try await send(method, (name, value), body: body)
            #expect(answer.status == 400, "\(method) \(name): \(value)")
            #expect(answer.code == "malformed_request")
          }
        }
        for condition in [
          ("If-Unmodified-Since", "Mon, 01 Jan 2001 00:00:00 GMT"),
          ("If-None-Match", "\"\(Self.tag)\""), ("If-Match", "\"other\""),
        ] {
          let answer = try await send(method, condition, body: body)
          #expect(answer.status == 412, "\(method) \(condition)")
        }
      }
      #expect(try await larder.get(path, Self.admin).text == "hello")
      let since = ("If-Unmodified-Since", "Fri, 01 Jan 2100 00:00:00 GMT")
      #expect(try await send("DELETE", since, body: nil).status == 204)
      await larder.stop()
    }
  }
}
