import Foundation
import HTTPWire
import LosslessJSON
import S3Wire
import TestSupport
import Testing

extension Ways {
  /// The S3 dialect over sockets, as far as the tests need no S3 client; `Tests/Peers` has those that do.
  struct S3DialectTests {
    private static let settings = """
      files:
        buckets:
          pics:
            access: public-read
          plain:
            access: admin
      """
    private static let admin = ("Authorization", "Bearer \(RunningLarder.adminToken)")

    struct Key {
      let id: String
      let secret: String
    }

    static func issue(
      _ larder: RunningLarder, _ settings: String = "{}"
    ) async throws -> Key {
      let answer = try await larder.post("/v1/admin/s3/keys", settings, admin)
      #expect(answer.status == 201)
      let body = try JSONValue(parsing: answer.body)
      return Key(
        id: try #require(body["accessKeyId"]?.string),
        secret: try #require(body["secretAccessKey"]?.string))
    }

    static func ask(
      _ larder: RunningLarder, _ method: String, _ path: String, by key: Key, body: String? = nil
    ) async throws -> RawResponse {
      let now = HTTPDate(secondsSince1970: Int64(Date().timeIntervalSince1970))
      let fields = RequestSigner(accessKey: key.id, secretKey: key.secret).fields(
        method: method, path: path, query: [], host: "localhost", fields: [],
        payload: PayloadHash(of: Array((body ?? "").utf8)), at: SignatureTime(now),
        region: "eu-west-1")
      return try await larder.request(
        method, path,
        headers: fields.map { ($0.name, $0.value) } + [("Content-Type", "text/plain")],
        body: body)
    }

    @Test("Access keys work until they are revoked")
    func keysWorkUntilTheyAreRevoked() async throws {
      let larder = try await RunningLarder.start(settings: Self.settings)
      let key = try await Self.issue(larder)
      let put = try await Self.ask(larder, "PUT", "/s3/plain/a%20b", by: key, body: "hello")
      #expect(put.status == 200)
      #expect(put["etag"] == "\"5d41402abc4b2a76b9719d911017c592\"")
      #expect(put["x-amz-request-id"] == put["request-id"])
      // Both interfaces read the same object.
      let read = try await larder.get("/v1/files/plain/a%20b", Self.admin)
      #expect(read.text == "hello")
      let got = try await Self.ask(larder, "GET", "/s3/plain/a%20b", by: key)
      #expect(got.status == 200 && got.text == "hello")
      // The access key still works after a restart.
      await larder.stopService()
      try await larder.startService()
      #expect(try await Self.ask(larder, "GET", "/s3/plain/a%20b", by: key).text == "hello")
      let revoked = try await larder.request(
        "DELETE", "/v1/admin/s3/keys/\(key.id)", headers: [Self.admin])
      #expect(revoked.status == 204)
      let refused = try await Self.ask(larder, "GET", "/s3/plain/a%20b", by: key)
      #expect(refused.status == 403)
      #expect(refused.text.contains("<Code>InvalidAccessKeyId</Code>"))
      await larder.stop()
    }

    @Test("An unsigned read of a type that can run script is an attachment")
    func unsignedReadsOfScriptableTypesAreAttachments() async throws {
      let larder = try await RunningLarder.start(settings: Self.settings)
      let key = try await Self.issue(larder)
      for (name, type) in [("page.html", "text/html"), ("icon.svg", "image/svg+xml")] {
        let put = try await larder.request(
          "PUT", "/v1/files/pics/\(name)", headers: [Self.admin, ("Content-Type", type)],
          body: "<p>")
        #expect(put.status == 201)
        for method in ["GET", "HEAD"] {
          let open = try await larder.request(method, "/s3/pics/\(name)")
          #expect(open.status == 200 && open["content-type"] == type)
          #expect(open["content-disposition"] == "attachment; filename*=UTF-8''\(name)")
          #expect(open["content-security-policy"] == "sandbox; default-src 'none'")
          let signed = try await Self.ask(larder, method, "/s3/pics/\(name)", by: key)
          #expect(signed.status == 200 && signed["content-disposition"] == nil)
        }
      }
      _ = try await larder.request(
        "PUT", "/v1/files/pics/a.png", headers: [Self.admin, ("Content-Type", "image/png")],
        body: "png")
      #expect(try await larder.get("/s3/pics/a.png")["content-disposition"] == nil)
      await larder.stop()
    }

    /// Searches the database, its backup, and the admin SQL endpoint.
    @Test("Secret keys are nowhere in plain text: not in files, backups or admin SQL")
    func secretsAreStoredSealed() async throws {
      let larder = try await RunningLarder.start(settings: Self.settings)
      let key = try await Self.issue(larder, #"{"userId":"u1","buckets":["pics"]}"#)
      #expect(try await larder.post("/v1/admin/backup", "{}", Self.admin).status == 201)
      let listed = try await larder.get("/v1/admin/s3/keys", Self.admin)
      #expect(listed.status == 200)
      #expect(listed.text.contains(key.id) && !listed.text.contains(key.secret))
      let (status, _) = try await AdminTests.sql(
        larder, #"{"sql":"SELECT secret_sealed FROM s3_key"}"#)
      #expect(status != 200)
      await larder.stop()
      var filesRead = 0
      let enumerator = FileManager.default.enumerator(atPath: "\(larder.folder)/data")
      for case let name as String in enumerator?.allObjects ?? [] {
        guard let data = FileManager.default.contents(atPath: "\(larder.folder)/data/\(name)")
        else {
          continue
        }
        filesRead += 1
        #expect(data.range(of: Data(key.secret.utf8)) == nil, "\(name)")
      }
      #expect(filesRead >= 2)
    }

    @Test("Callers without a valid signature are refused in XML")
    func refusesUnsignedCallersInXML() async throws {
      let larder = try await RunningLarder.start(settings: Self.settings)
      let wrong = Key(id: try await Self.issue(larder).id, secret: "wrong")
      let refused = try await Self.ask(larder, "GET", "/s3/plain/x", by: wrong)
      #expect(refused.status == 403)
      let error = try XMLReader.read(refused.body)
      #expect(error.name == "Error")
      #expect(error["Code"]?.text == "SignatureDoesNotMatch")
      #expect(error["RequestId"]?.text == refused["x-amz-request-id"])
      #expect(!refused.text.contains("x-amz-date"))
      for (path, status, code) in [
        ("/s3", 403, "AccessDenied"), ("/s3/", 403, "AccessDenied"),
        ("/s3/plain/x", 403, "AccessDenied"), ("/s3/plain", 403, "AccessDenied"),
        ("/s3/No", 400, "InvalidBucketName"), ("/s3/pics/x", 404, "NoSuchKey"),
        ("/s3/pics/../x", 400, "InvalidArgument"),
      ] {
        let answer = try await larder.get(path)
        #expect(answer.status == status, "\(path)")
        #expect(answer["content-type"] == "application/xml", "\(path)")
        #expect(try XMLReader.read(answer.body)["Code"]?.text == code, "\(path)")
      }
      #expect(try await larder.get("/s3/pics").status == 200)
      for (method, path) in [
        ("PATCH", "/s3/pics/x"), ("PATCH", "/s3/pics"), ("PATCH", "/s3"), ("DELETE", "/s3/"),
      ] {
        let answer = try await larder.request(method, path)
        #expect(answer.status == 405, "\(method) \(path)")
        #expect(answer["allow"]?.contains("GET") == true, "\(method) \(path)")
        #expect(answer["x-amz-request-id"] == answer["request-id"], "\(method) \(path)")
        #expect(try XMLReader.read(answer.body)["Code"]?.text == "MethodNotAllowed")
      }
      await larder.stop()
    }

    /// Refusals before a request is routed are XML too; outside the dialect they are problem details.
    @Test(
      "Unreadable requests are refused in XML below /s3, else in problem details",
      arguments: [
        ("BREW /s3/pics/x HTTP/1.1\r\nHost: x\r\n\r\n", 501, "NotImplemented"),
        (
          "PUT /s3/pics/x?a=b HTTP/1.1\r\nHost: x\r\nContent-Length: 1x\r\n\r\n", 400,
          "InvalidRequest"
        ),
        (
          "PUT /s3/pics/x HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: zip\r\n\r\n", 501,
          "NotImplemented"
        ),
        ("BREW /v1/files/pics/x HTTP/1.1\r\nHost: x\r\n\r\n", 501, nil),
        ("GET /s3s/x HTTP/1.1\r\nHost: x\r\nContent-Length: 1x\r\n\r\n", 400, nil),
        ("GET \r\n\r\n", 400, nil),
      ] as [(String, Int, String?)])
    func unreadableRequestsAreRefusedInXML(
      text: String, status: Int, code: String?
    ) async throws {
      let larder = try await RunningLarder.start(settings: Self.settings)
      let port = larder.port
      // Sent in one piece, and in two.
      for cut in [text.count, 20] {
        let answer = try await onOwnThread {
          let client = try RawClient(port: port)
          try client.send(String(text.prefix(cut)))
          if cut < text.count { try client.send(String(text.dropFirst(cut))) }
          return try client.response()
        }
        #expect(answer.status == status, "\(answer.text)")
        guard let code else {
          #expect(answer["content-type"] == "application/problem+json")
          continue
        }
        #expect(answer["content-type"] == "application/xml")
        let error = try XMLReader.read(answer.body)
        #expect(error["Code"]?.text == code)
        #expect(error["Resource"]?.text == "/s3/pics/x")
        #expect(error["RequestId"]?.text == answer["request-id"])
      }
      await larder.stop()
    }
  }
}
