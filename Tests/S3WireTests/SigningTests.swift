import HTTPWire
import S3Wire
import Testing

struct SigningTests {
  @Test(
    "A request has the published signature",
    arguments: SignatureVector.all)
  func matchesPublishedSignatures(_ vector: SignatureVector) throws {
    let text = vector.request.stringToSign(at: try vector.signedAt(), scope: try vector.scope())
    if !vector.digest.isEmpty { #expect(text.hasSuffix("\n\(vector.digest)")) }
    let key = SignatureKey(secret: vector.signer.secret, scope: try vector.scope())
    #expect(key.sign(text) == vector.signature)
    #expect(key.isSignature(vector.signature, of: text))
  }

  @Test(
    "Only the correct signature is accepted",
    arguments: SignatureVector.all)
  func acceptsOnlyCorrectSignature(_ vector: SignatureVector) throws {
    let text = vector.request.stringToSign(at: try vector.signedAt(), scope: try vector.scope())
    let key = SignatureKey(secret: vector.signer.secret, scope: try vector.scope())
    let other = vector.signature.hasSuffix("0") ? "1" : "0"
    for wrong in [
      "", String(vector.signature.dropLast()), vector.signature.dropLast() + other,
      vector.signature + "0", vector.signature.uppercased(),
    ] {
      #expect(!key.isSignature(wrong, of: text), "\(wrong)")
    }
    #expect(
      !SignatureKey(secret: "other", scope: try vector.scope())
        .isSignature(vector.signature, of: text))
  }

  @Test("The canonical request has the documented form")
  func writesCanonicalRequest() throws {
    #expect(
      SignatureVector.all[0].request.text == """
        GET
        /

        host:example.amazonaws.com
        x-amz-date:20150830T123600Z

        host;x-amz-date
        e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855
        """)
  }

  @Test("Field values are trimmed, and fields of one name are joined")
  func trimsAndJoinsFields() {
    let request = CanonicalRequest(
      method: "GET", path: "/",
      fields: [
        CanonicalRequest.Field("My-Header", "  a   b\t c "), CanonicalRequest.Field("B", "2"),
        CanonicalRequest.Field("my-header", "d"), CanonicalRequest.Field("b-", "1"),
      ],
      payload: .unsigned)
    #expect(request.signedFields == ["b", "b-", "my-header"])
    #expect(request.text.contains("\nmy-header:a b c,d\n"))
  }

  @Test("A signer adds the same signature as its parts compute")
  func signerMatchesItsParts() throws {
    let signer = RequestSigner(
      accessKey: SignatureVector.manual.accessKey, secretKey: SignatureVector.manual.secret)
    let fields = signer.fields(
      method: "GET", path: "/test.txt", query: [], host: "examplebucket.s3.amazonaws.com",
      fields: [CanonicalRequest.Field("range", "bytes=0-9")], payload: .empty,
      at: try #require(SignatureTime("20130524T000000Z")), region: "us-east-1")
    #expect(
      fields.map(\.name) == ["x-amz-content-sha256", "x-amz-date", "authorization"])
    #expect(
      fields.last?.value == """
        AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request, \
        SignedHeaders=host;range;x-amz-content-sha256;x-amz-date, \
        Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41
        """)
  }

  @Test("The session token is signed")
  func signsSessionToken() throws {
    let signer = RequestSigner(accessKey: "A", secretKey: "s", sessionToken: "t")
    let fields = signer.fields(
      method: "GET", path: "/", query: [], host: "h", fields: [], payload: .empty,
      at: try #require(SignatureTime("20130524T000000Z")), region: "r")
    #expect(fields.contains(CanonicalRequest.Field("x-amz-security-token", "t")))
    #expect(
      fields.last?.value.contains(
        "SignedHeaders=host;x-amz-content-sha256;x-amz-date;x-amz-security-token,") == true)
  }
}

struct SignatureScopeTests {
  @Test("A scope names day, region and service")
  func namesDayRegionAndService() {
    #expect(
      SignatureScope(day: "20130524", region: "us-east-1").text
        == "20130524/us-east-1/s3/aws4_request")
  }
}
