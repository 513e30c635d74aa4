import HTTPWire
import S3Wire
import Testing

struct PresignedQueryTests {
  private static let signed = """
    X-Amz-Algorithm=AWS4-HMAC-SHA256\
    &X-Amz-Credential=AKIAIOSFODNN7EXAMPLE%2F20130524%2Fus-east-1%2Fs3%2Faws4_request\
    &X-Amz-Date=20130524T000000Z&X-Amz-Expires=86400&X-Amz-SignedHeaders=host\
    &X-Amz-Signature=aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404
    """

  @Test("A presigned URL has the published signature")
  func matchesPublishedSignature() throws {
    let signer = RequestSigner(
      accessKey: SignatureVector.manual.accessKey, secretKey: SignatureVector.manual.secret)
    #expect(
      signer.presignedQuery(
        method: "GET", path: "/test.txt", host: "examplebucket.s3.amazonaws.com",
        at: try #require(SignatureTime("20130524T000000Z")), lifetimeSeconds: 86_400,
        region: "us-east-1") == Self.signed)
  }

  /// The public suite signs the digest of no content instead of no digest.
  @Test("A presigned URL has the signature of the public test suite")
  func matchesPublicSuite() throws {
    let time = try #require(SignatureTime("20150830T123600Z"))
    let scope = SignatureScope(day: time.day, region: "us-east-1", service: "service")
    let presigned = PresignedQuery(
      credential: SignatureCredential(accessKey: "AKIDEXAMPLE", scope: scope), time: time,
      lifetimeSeconds: 3600)
    let text = presigned.stringToSign(
      method: "GET", path: "/", query: [],
      fields: [CanonicalRequest.Field("host", "example.amazonaws.com")], payload: .empty)
    #expect(
      text.hasSuffix("bb7705b4aa3cb8e8f5e1e0b3d4c0b64030797a313c8ceee43e33117cc43eadc5"))
    #expect(
      SignatureKey(secret: SignatureVector.suite.secret, scope: scope).sign(text)
        == "e93c787ed7f371d5c6b165c1b38ede9550f4dce4144713e844b25b7192d3865d")
  }

  @Test("A presigned query survives a round trip")
  func roundTrips() throws {
    let query = try QueryString(Self.signed)
    let read = try #require(try PresignedQuery(query))
    #expect(read.credential.accessKey == "AKIAIOSFODNN7EXAMPLE")
    #expect(read.lifetimeSeconds == 86_400)
    #expect(read.text(with: []) == Self.signed)
    let text = read.stringToSign(
      method: "GET", path: "/test.txt", query: query.parameters,
      fields: [CanonicalRequest.Field("host", "examplebucket.s3.amazonaws.com")])
    let key = SignatureKey(secret: SignatureVector.manual.secret, scope: read.credential.scope)
    #expect(key.isSignature(read.signature, of: text))
    let other = read.stringToSign(
      method: "GET", path: "/test.txt",
      query: query.parameters + [QueryString.Parameter(name: "versionId", value: "1")],
      fields: [CanonicalRequest.Field("host", "examplebucket.s3.amazonaws.com")])
    #expect(!key.isSignature(read.signature, of: other))
  }

  @Test("A query without a signature is not a presigned query")
  func ignoresUnsignedQuery() throws {
    #expect(try PresignedQuery(try QueryString("prefix=a&X-Amz-Date=1")) == nil)
  }

  @Test(
    "A malformed presigned query is refused",
    arguments: [
      ("X-Amz-Algorithm=AWS4-HMAC-SHA256", "X-Amz-Algorithm=AWS4-HMAC-SHA1", .unknownAlgorithm),
      ("us-east-1%2Fs3%2Faws4_request", "us-east-1", .malformed("X-Amz-Credential")),
      ("Date=20130524T000000Z", "Date=20130524T000060Z", .malformed("X-Amz-Date")),
      ("Date=20130524T000000Z", "Date=20130525T000000Z", .otherDay),
      ("Expires=86400", "Expires=604801", .malformed("X-Amz-Expires")),
      ("Expires=86400", "Expires=0", .malformed("X-Amz-Expires")),
      ("Expires=86400", "Expires=86400&X-Amz-Expires=1", .malformed("X-Amz-Expires")),
      ("SignedHeaders=host", "SignedHeaders=range;host", .malformed("X-Amz-SignedHeaders")),
      ("4c265957d157751f604d404", "", .malformed("X-Amz-Signature")),
    ] as [(String, String, PresignedQuery.Fault)])
  func refusesMalformedQuery(
    _ part: String, _ instead: String, _ fault: PresignedQuery.Fault
  ) throws {
    let text = Self.signed.replacing(part, with: instead)
    #expect(text != Self.signed)
    #expect(throws: fault) { try PresignedQuery(try QueryString(text)) }
  }
}
