import TestSupport
import Testing

extension Ways {
  /// S3 operations named by a query parameter: an unsupported one is refused and never treated as the plain
  /// operation of its method.
  struct S3OperationTests {
    private static let settings = """
      files:
        buckets:
          plain:
            access: admin
      """

    /// Parameters that name operations of S3 and of similar services, and some that do not exist.
    private static let names = [
      "abac", "accelerate", "acl", "analytics", "annotation", "append", "attributes", "cors",
      "delete", "encryption", "intelligent-tiering", "inventory", "legal-hold", "lifecycle",
      "list-type", "location", "logging", "metadataAnnotationTable", "metadataConfiguration",
      "metadataInventoryTable", "metadataJournalTable", "metadataTable", "metrics", "notification",
      "object-lock", "ownershipControls", "partNumber", "policy", "policyStatus",
      "publicAccessBlock", "renameObject", "replication", "requestPayment", "restore", "retention",
      "select", "session", "tagging", "torrent", "unheard-of", "UPLOADID", "uploads", "versioning",
      "versions", "website",
    ]

    @Test("Unsupported S3 operations are refused and change nothing")
    func unsupportedOperationsChangeNothing() async throws {
      let larder = try await RunningLarder.start(settings: Self.settings)
      let client = try await SignedClient.issue(larder)
      #expect(try await client.ask("PUT", "/s3/plain/k", body: "hello").status == 200)
      #expect(try await client.ask("PUT", "/s3/empty").status == 200)
      for name in Self.names {
        for (method, target) in [
          ("PUT", "/s3/plain/k"), ("DELETE", "/s3/plain/k"), ("POST", "/s3/plain/k"),
          ("PUT", "/s3/fresh"), ("DELETE", "/s3/empty"), ("POST", "/s3/plain"),
        ] {
          let body = method == "DELETE" ? nil : "<Other/>"
          let answer = try await client.ask(method, "\(target)?\(name)", body: body)
          // These succeed: deleting the encryption or the tags, and beginning an upload.
          let isDone = ["encryption", "tagging", "uploads"].contains(name)
          #expect(answer.status >= 400 || isDone, "\(method) \(name)")
          if answer.status == 501 { #expect(answer.s3Code == "NotImplemented") }
        }
        #expect(try await client.ask("GET", "/s3/plain/k").text == "hello", "\(name)")
        #expect(try await client.ask("HEAD", "/s3/empty").status == 200, "\(name)")
        #expect(try await client.ask("HEAD", "/s3/fresh").status == 404, "\(name)")
      }
      await larder.stop()
    }

    @Test("HEAD has the status and fields of GET, ranges included")
    func headFollowsRanges() async throws {
      let larder = try await RunningLarder.start(settings: Self.settings)
      let client = try await SignedClient.issue(larder)
      #expect(try await client.ask("PUT", "/s3/plain/k", body: "hello").status == 200)
      for (range, status, told, length) in [
        ("bytes=0-1", 206, "bytes 0-1/5", "2"), ("bytes=-2", 206, "bytes 3-4/5", "2"),
        ("bytes=1-", 206, "bytes 1-4/5", "4"), ("bytes=9-", 416, "bytes */5", nil),
        ("bytes=0-0,2-2", 200, nil, "5"), ("lines=1-2", 200, nil, "5"),
      ] {
        let head = try await client.ask("HEAD", "/s3/plain/k", [("Range", range)])
        let get = try await client.ask("GET", "/s3/plain/k", [("Range", range)])
        #expect(head.status == status && get.status == status, "\(range)")
        #expect(head["content-range"] == told && get["content-range"] == told, "\(range)")
        if let length {
          #expect(head["content-length"] == length && get["content-length"] == length, "\(range)")
        }
      }
      await larder.stop()
    }

    @Test("A copy source can include the path prefix, as s3fs sends it")
    func copySourceCanHaveThePrefix() async throws {
      let larder = try await RunningLarder.start(settings: Self.settings)
      let client = try await SignedClient.issue(larder)
      #expect(try await client.ask("PUT", "/s3/plain/k", body: "hello").status == 200)
      for source in ["plain/k", "/plain/k", "s3/plain/k", "/s3/plain/k"] {
        let copy = try await client.ask("PUT", "/s3/plain/copy", [("x-amz-copy-source", source)])
        #expect(copy.status == 200, "\(source): \(copy.text)")
        #expect(try await client.ask("GET", "/s3/plain/copy").text == "hello")
        #expect(try await client.ask("DELETE", "/s3/plain/copy").status == 204)
      }
      await larder.stop()
    }

    @Test("A read with an unknown subresource is not a plain read")
    func unknownSubresourcesAreNotPlainReads() async throws {
      let larder = try await RunningLarder.start(settings: Self.settings)
      let client = try await SignedClient.issue(larder)
      #expect(try await client.ask("PUT", "/s3/plain/k", body: "hello").status == 200)
      for name in Self.names {
        let object = try await client.ask("GET", "/s3/plain/k?\(name)")
        #expect(object.text != "hello", "\(name)")
        let bucket = try await client.ask("GET", "/s3/plain?\(name)")
        #expect(!bucket.text.contains("<ListBucketResult"), "\(name)")
      }
      for target in [
        "/s3/plain/k?x-id=GetObject", "/s3/plain/k?response-content-type=text/x",
        "/s3/plain?x-id=ListObjects&prefix=k", "/s3/plain?list-type=2&start-after=a",
      ] {
        #expect(try await client.ask("GET", target).status == 200, "\(target)")
      }
      await larder.stop()
    }
  }
}
