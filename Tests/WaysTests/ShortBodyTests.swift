import Foundation
import HTTPWire
import LosslessJSON
import S3Wire
import TestSupport
import Testing

extension Ways {
  /// Bodies that end early, from clients that still read: each is refused in the form of its interface, and
  /// nothing of the body is stored.
  struct ShortBodyTests {
    private static let settings = """
      files:
        buckets:
          pics:
            access: public-read
      """
    private static let admin = ("Authorization", "Bearer \(RunningLarder.adminToken)")
    /// The framing of the body, and the expected response.
    static let bodies = [
      ("Content-Length: 10", "abc"), ("Content-Length: 10", ""),
      ("Transfer-Encoding: chunked", "a\r\nabc"), ("Transfer-Encoding: chunked", "3\r\nabc\r\n"),
      ("Transfer-Encoding: chunked", "3\r\nabc\r\n0\r\n"),
    ]

    @Test("An incomplete upload leaves the object as it was", arguments: bodies)
    func incompleteUploadKeepsTheObject(framing: String, body: String) async throws {
      let larder = try await RunningLarder.start(settings: Self.settings)
      let path = "/v1/files/pics/k"
      let stored = try await larder.request("PUT", path, headers: [Self.admin], body: "before")
      #expect(stored.status == 201)
      let answer = try await Self.ask(larder, "PUT", path, [Self.admin], framing, body)
      #expect(answer.status == 400)
      #expect(answer.code == "body_incomplete", "\(answer.text)")
      #expect(answer["connection"] == "close")
      #expect(try await larder.get(path).text == "before")
      let incoming = "\(larder.folder)/data/files/incoming"
      #expect(try FileManager.default.contentsOfDirectory(atPath: incoming) == [])
      await larder.stop()
    }

    @Test("An incomplete part is not stored")
    func incompletePartIsRefused() async throws {
      let larder = try await RunningLarder.start(settings: Self.settings)
      let begun = try await larder.request(
        "POST", "/v1/files/pics/k/uploads", headers: [Self.admin])
      let upload = try #require(begun.json?["uploadId"]?.string, "\(begun.text)")
      let path = "/v1/files/pics/k?uploadId=\(upload)&partNumber=1"
      let answer = try await Self.ask(
        larder, "PUT", path, [Self.admin], "Content-Length: 10", "abc")
      #expect(answer.status == 400)
      #expect(answer.code == "body_incomplete", "\(answer.text)")
      let parts = try await larder.get("/v1/files/pics/k?uploadId=\(upload)", Self.admin)
      #expect(parts.status == 200)
      #expect(parts.json?["Parts"]?.array?.isEmpty == true, "\(parts.text)")
      await larder.stop()
    }

    @Test("An incomplete JSON body is refused", arguments: bodies)
    func incompleteJSONIsRefused(framing: String, body: String) async throws {
      let larder = try await RunningLarder.start()
      for path in ["/v1/operations/Film", "/v1/devices"] {
        let answer = try await Self.ask(
          larder, "POST", path, [("Content-Type", "application/json")], framing, body)
        #expect(answer.status == 400, "\(path)")
        #expect(answer.code == "body_incomplete", "\(path): \(answer.text)")
        #expect(answer["connection"] == "close", "\(path)")
      }
      await larder.stop()
    }

    @Test("The S3 dialect refuses an incomplete body in XML")
    func s3RefusesIncompleteBodiesInXML() async throws {
      let larder = try await RunningLarder.start(settings: Self.settings)
      let issued = try await larder.post("/v1/admin/s3/keys", "{}", Self.admin)
      let signer = RequestSigner(
        accessKey: try #require(issued.json?["accessKeyId"]?.string),
        secretKey: try #require(issued.json?["secretAccessKey"]?.string))
      let cases: [(PayloadHash, String, String, Bool)] = [
        (PayloadHash(of: Array("0123456789".utf8)), "PUT", "abc", false),
        (.unsignedChunksAndTrailer, "PUT", "a\r\nabc", false),
        (.unsignedChunksAndTrailer, "PUT", "a\r\n0123456789\r\n", false),
        (PayloadHash(of: Array("<Delete/>".utf8)), "POST", "<Delete", true),
      ]
      for (payload, method, body, isDeletingMany) in cases {
        let path = isDeletingMany ? "/s3/pics" : "/s3/pics/k"
        let answer = try await Self.ask(
          larder, method, path + (isDeletingMany ? "?delete=" : ""),
          Self.sign(
            method, path, isDeletingMany ? ["delete"] : [], payload, by: signer),
          "Content-Length: 100", body)
        #expect(answer.status == 400, "\(body)")
        #expect(answer["content-type"] == "application/xml", "\(body)")
        #expect(
          try XMLReader.read(answer.body)["Code"]?.text == "IncompleteBody", "\(answer.text)")
      }
      #expect(try await larder.get("/v1/files/pics/k").status == 404)
      await larder.stop()
    }

    private static func sign(
      _ method: String, _ path: String, _ flags: [String], _ payload: PayloadHash,
      by signer: RequestSigner
    ) -> [(String, String)] {
      let now = HTTPDate(secondsSince1970: Int64(Date().timeIntervalSince1970))
      let own =
        payload.isChunked
        ? [CanonicalRequest.Field("x-amz-decoded-content-length", "10")]
        : [CanonicalRequest.Field("content-md5", "1B2M2Y8AsgTpgAmY7PhCfg==")]
      let added = signer.fields(
        method: method, path: path,
        query: flags.map { QueryString.Parameter(name: $0, value: "") }, host: "x", fields: own,
        payload: payload, at: SignatureTime(now), region: "us-east-1")
      return (own + added).map { ($0.name, $0.value) }
    }

    private static func ask(
      _ larder: RunningLarder, _ method: String, _ target: String, _ headers: [(String, String)],
      _ framing: String, _ body: String
    ) async throws -> RawResponse {
      var head = "\(method) \(target) HTTP/1.1\r\nHost: x\r\n\(framing)\r\n"
      for (name, value) in headers { head += "\(name): \(value)\r\n" }
      let (port, bytes) = (larder.port, "\(head)\r\n\(body)")
      return try await onOwnThread {
        let client = try RawClient(port: port)
        try client.send(bytes)
        client.finishSending()
        return try client.response(to: method)
      }
    }
  }
}
