import TestSupport
import Testing

extension Ways {
  /// The S3 dialect at the root of a host or an address, and clients that omit the path prefix from the
  /// signature.
  struct S3RootTests {
    private static let settings = """
      files:
        buckets:
          plain:
            access: admin
          pics:
            access: public-read
      s3:
        listen: 127.0.0.1:0
        host: s3.example.com
      cors:
        origins: [https://app.example.com]
      """

    @Test("A client that signs the path after the prefix is accepted")
    func acceptsPathsSignedWithoutThePrefix() async throws {
      let larder = try await RunningLarder.start(settings: Self.settings)
      let client = try await SignedClient.issue(larder)
      let put = try await client.ask("PUT", "/s3/plain/k", body: "hello", signedPath: "/plain/k")
      #expect(put.status == 200)
      #expect(try await client.ask("GET", "/s3/plain/k", signedPath: "/plain/k").text == "hello")
      let other = try await client.ask("GET", "/s3/plain/k", signedPath: "/plain/other")
      #expect(other.s3Code == "SignatureDoesNotMatch")
      await larder.stop()
    }

    @Test("An address of its own serves the dialect at the root, and nothing else")
    func servesItsOwnAddress() async throws {
      let larder = try await RunningLarder.start(settings: Self.settings)
      let client = try await SignedClient.issue(larder)
      let port = try #require(larder.ports.last)
      #expect(larder.ports.count == 2)
      let put = try await client.ask("PUT", "/plain/a%20b/c", body: "hello", port: port)
      #expect(put.status == 200)
      #expect(try await client.ask("GET", "/s3/plain/a%20b/c").text == "hello")
      #expect(try await client.ask("GET", "/plain/a%20b/c", port: port).text == "hello")
      let listed = try await client.ask("GET", "/plain?list-type=2", port: port)
      #expect(listed.text.contains("<Key>a b/c</Key>"))
      #expect(try await client.ask("GET", "/plain/", port: port).text.contains("<Key>"))
      let buckets = try await client.ask("GET", "/", port: port)
      #expect(buckets.text.contains("<Name>plain</Name>"))
      for path in ["/healthz", "/v1/files", "/s3/plain", "/v1/admin/s3/keys"] {
        let answer = try await larder.request("GET", path, port: port)
        #expect(answer["content-type"] == "application/xml", "\(path)")
        #expect(answer.status >= 400, "\(path)")
      }
      let refused = try await larder.request("PATCH", "/plain/x", port: port)
      #expect(refused.s3Code == "MethodNotAllowed")
      #expect(refused["allow"]?.contains("GET") == true)
      let preflight = try await larder.request(
        "OPTIONS", "/plain/x",
        headers: [
          ("Origin", "https://app.example.com"), ("Access-Control-Request-Method", "PUT"),
          ("Access-Control-Request-Headers", "x-amz-date"),
        ], port: port)
      #expect(preflight.status == 204)
      #expect(preflight["access-control-allow-headers"]?.contains("x-amz-date") == true)
      await larder.stop()
    }

    @Test("Its own host name serves the dialect at the root, and each subdomain a bucket")
    func servesItsOwnHost() async throws {
      let larder = try await RunningLarder.start(settings: Self.settings)
      let client = try await SignedClient.issue(larder)
      let host = "s3.example.com:8080"
      let put = try await client.ask("PUT", "/pics/k", body: "hello", host: host)
      #expect(put.status == 200)
      // The bucket as a subdomain, signed or not, in any case.
      let read = try await client.ask("GET", "/k", host: "pics.s3.example.com")
      #expect(read.text == "hello")
      let open = try await larder.request(
        "GET", "/k", headers: [("Host", "PICS.S3.Example.Com")])
      #expect(open.text == "hello")
      let listed = try await client.ask("GET", "/?list-type=2", host: "pics.s3.example.com")
      #expect(listed.text.contains("<Key>k</Key>"))
      // Cached responses of other hosts are not served here.
      #expect(try await larder.get("/v1/files/pics/k").text == "hello")
      #expect(try await larder.get("/v1/files/pics/k").text == "hello")
      for _ in 0..<2 {
        let other = try await larder.request(
          "GET", "/v1/files/pics/k", headers: [("Host", "s3.example.com")])
        #expect(other.s3Code != nil)
      }
      let elsewhere = try await larder.request(
        "GET", "/pics/k", headers: [("Host", "example.com")])
      #expect(elsewhere.status == 404)
      await larder.stop()
    }
  }
}
