import Files
import HTTPClient
import HTTPTypes
import Model
import Testing

@testable import S3FileStore

struct S3ClientTests {
  private static let list = """
    <?xml version="1.0"?><ListAllMyBucketsResult><Buckets></Buckets></ListAllMyBucketsResult>
    """
  private static let copied = """
    <CopyObjectResult><ETag>"abc"</ETag><LastModified>2013-05-24T00:00:01.000Z</LastModified>\
    </CopyObjectResult>
    """
  private static let found: HTTPFields = [.contentLength: "1", .eTag: "\"t\""]

  private static func error(_ code: String, _ more: String = "") -> String {
    "<Error><Code>\(code)</Code><Message>m</Message>\(more)</Error>"
  }

  private func address(_ key: String) throws -> ObjectAddress {
    ObjectAddress(
      bucket: try #require(BucketName("bucket")), key: try #require(ObjectKey(key)))
  }

  @Test(
    "Transient failures are retried",
    arguments: [
      S3Script.Step.answer(503, [:], error("SlowDown")), .answer(500), .answer(502), .answer(504),
      .answer(400, [:], error("RequestTimeout")), .failure(.connectionLost),
      .failure(.connectTimedOut), .failure(.noResponseInTime), .answer(200, [:], "<cut"),
    ])
  func retriesTransientFailures(_ step: S3Script.Step) async throws {
    let script = S3Script([step, step, .answer(200, [:], Self.list)])
    #expect(try await script.store().buckets() == [])
    #expect(script.requests.count == 3)
    // Full jitter at its most: each bound twice the one before.
    #expect(script.rests == [.milliseconds(200), .milliseconds(400)])
  }

  @Test("A request is sent at most three times")
  func stopsAfterThreeAttempts() async throws {
    let script = S3Script(.init(repeating: .answer(503, [:], Self.error("SlowDown")), count: 9))
    await #expect(throws: FileStoreError.unavailable(retryAfter: nil)) {
      _ = try await script.store().buckets()
    }
    #expect(script.requests.count == 3)
  }

  @Test("Retry-After is honoured")
  func honoursRetryAfter() async throws {
    let script = S3Script([.answer(503, [.retryAfter: "2"]), .answer(200, [:], Self.list)])
    _ = try await script.store().buckets()
    #expect(script.rests == [.seconds(2)])
    for text in ["60", "Fri, 24 May 2013 00:01:00 GMT"] {
      let patient = S3Script([.answer(503, [.retryAfter: text])])
      await #expect(throws: FileStoreError.unavailable(retryAfter: .seconds(60))) {
        _ = try await patient.store().buckets()
      }
      #expect(patient.requests.count == 1)
    }
  }

  /// `Retry-After` is a time of the service's clock, which is known from earlier responses.
  @Test("Retry-After dates are read by the service's clock")
  func readsDatesByServiceClock() async throws {
    let script = S3Script([
      .answer(403, [.date: "Fri, 24 May 2013 01:00:00 GMT"], Self.error("RequestTimeTooSkewed")),
      .answer(503, [.retryAfter: "Fri, 24 May 2013 01:00:02 GMT"]), .answer(200, [:], Self.list),
    ])
    _ = try await script.store().buckets()
    #expect(script.rests == [.seconds(2)])
  }

  @Test(
    "Permanent failures are reported at once",
    arguments: [
      (S3Script.Step.answer(403, [:], error("AccessDenied")), FileStoreError.denied),
      (.answer(403, [:], error("InvalidAccessKeyId")), .denied),
      (.answer(404, [:], error("NoSuchBucket")), .noSuchBucket),
      (.answer(501, [:], error("NotImplemented")), .unsupported),
      (.answer(507, [:], ""), .storageFull), (.failure(.queueFull), .unavailable(retryAfter: nil)),
      (
        .failure(.breakerOpen(retryAfter: .seconds(3))),
        .unavailable(retryAfter: .seconds(3))
      ),
    ])
  func reportsPermanentFailures(_ step: S3Script.Step, _ error: FileStoreError) async throws {
    let script = S3Script([step])
    await #expect(throws: error) { _ = try await script.store().buckets() }
    #expect(script.requests.count == 1)
  }

  @Test("An error document in a 200 response is an error")
  func detectsErrorsInSuccess() async throws {
    let head = S3Script.Step.answer(200, Self.found)
    let script = S3Script([
      head, head, .answer(200, [:], Self.error("InternalError")), .answer(200, [:], Self.copied),
    ])
    let copy = try await script.store().copy(
      try address("a"), if: nil, to: try address("b"), attributes: nil, CopyWrite())
    #expect(copy.metadata.tag == "abc")
    let failing = S3Script(
      [head, head] + .init(repeating: .answer(200, [:], Self.error("InternalError")), count: 3))
    await #expect(throws: FileStoreError.self) {
      _ = try await failing.store().copy(
        try address("a"), if: nil, to: try address("b"), attributes: nil, CopyWrite())
    }
    #expect(failing.requests.count == 5)
  }

  @Test("A redirected request is signed for the new region")
  func signsForTheNewRegion() async throws {
    let name = try #require(HTTPField.Name("x-amz-bucket-region"))
    let moved = S3Script.Step.answer(301, [name: "eu-west-1"])
    let script = S3Script([moved, .answer(200, Self.found), .answer(200, Self.found)])
    let store = try script.store(endpoint: "https://s3.us-east-1.amazonaws.com", addressing: .host)
    for _ in 0..<2 { _ = try await store.head(try address("k"), conditions: nil) }
    #expect(
      script.requests.map(\.url.origin.authority) == [
        "bucket.s3.us-east-1.amazonaws.com", "bucket.s3.eu-west-1.amazonaws.com",
        "bucket.s3.eu-west-1.amazonaws.com",
      ])
    let scopes = script.requests.map { $0.fields[.authorization] ?? "" }
    #expect(scopes[0].contains("/us-east-1/s3/"))
    #expect(scopes[1].contains("/eu-west-1/s3/"))
    #expect(script.rests == [])
  }

  @Test("A region is changed once, and never to a foreign host")
  func changesRegionOnce() async throws {
    let moved = S3Script.Step.answer(
      301, [.location: "https://evil.example/"],
      Self.error("PermanentRedirect", "<Region>eu-west-1</Region><Endpoint>evil.example</Endpoint>")
    )
    let script = S3Script(.init(repeating: moved, count: 5))
    await #expect(throws: FileStoreError.self) {
      _ = try await script.store().head(try address("k"), conditions: nil)
    }
    #expect(script.requests.count == 2)
    #expect(script.requests.allSatisfy { $0.url.origin.authority == "s3.example" })
  }

  @Test("The clock is corrected once by the service's")
  func correctsClockOnce() async throws {
    let late = S3Script.Step.answer(
      403, [.date: "Fri, 24 May 2013 01:00:00 GMT"], Self.error("RequestTimeTooSkewed"))
    let script = S3Script([late, .answer(200, [:], Self.list), .answer(200, [:], Self.list)])
    let store = try script.store()
    for _ in 0..<2 { _ = try await store.buckets() }
    #expect(
      script.requests.map { request in
        HTTPField.Name("x-amz-date").flatMap { request.fields[$0] }
      } == ["20130524T000000Z", "20130524T010000Z", "20130524T010000Z"])
    let stubborn = S3Script(.init(repeating: late, count: 5))
    await #expect(throws: FileStoreError.denied) { _ = try await stubborn.store().buckets() }
    #expect(stubborn.requests.count == 2)
  }

  @Test("Streamed content is not sent again")
  func doesNotRepeatStreams() async throws {
    let script = S3Script([.answer(404), .answer(503), .answer(200)])
    let content = UploadContent(
      byteCount: 9 << 20, next: { () async throws(FileStoreError) in nil })
    await #expect(throws: FileStoreError.unavailable(retryAfter: nil)) {
      _ = try await script.store().put(content, at: try address("k"), ObjectWrite())
    }
    #expect(script.requests.map(\.method) == [.head, .put])
  }

  /// The first response was lost, so the second reports an existing object: ours.
  @Test("A conditional write recognises its own earlier attempt")
  func recognisesItsOwnWrite() async throws {
    let own: HTTPFields = [.contentLength: "1", .eTag: "\"55a54008ad1ba589aa210d2629c1df41\""]
    let script = S3Script([
      .answer(404), .failure(.connectionLost), .answer(412, [:], Self.error("PreconditionFailed")),
      .answer(200, own),
    ])
    let written = try await script.store().put(
      .of([1]), at: try address("k"), ObjectWrite(condition: .absent))
    #expect(written.isNew)
    let other = S3Script([
      .answer(404), .failure(.connectionLost), .answer(412, [:], Self.error("PreconditionFailed")),
      .answer(200, Self.found),
    ])
    await #expect(throws: FileStoreError.preconditionFailed) {
      _ = try await other.store().put(
        .of([1]), at: try address("k"), ObjectWrite(condition: .absent))
    }
  }

  @Test("Content is not hashed for the signature over TLS")
  func leavesContentUnsignedOverTLS() async throws {
    for (endpoint, payload) in [
      ("https://s3.example", "UNSIGNED-PAYLOAD"),
      ("http://s3.example", "4bf5122f344554c53bde2ebb8cd2b7e3d1600ad631c385a5d7cce23c7785459a"),
    ] {
      let script = S3Script([.answer(404), .answer(200)])
      _ = try await script.store(endpoint: endpoint).put(
        .of([1]), at: try address("k"), ObjectWrite())
      let name = try #require(HTTPField.Name("x-amz-content-sha256"))
      #expect(script.requests.last?.fields[name] == payload)
    }
  }
}
