import S3Wire
import Testing

struct SignatureAuthorizationTests {
  private static let signature =
    "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"
  private static let credential = "AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request"

  @Test(
    "Authorization is read with any blanks around its commas",
    arguments: [", ", ",", " ,  "])
  func readsAuthorization(_ comma: String) throws {
    let text =
      "AWS4-HMAC-SHA256 Credential=\(Self.credential)\(comma)SignedHeaders=host;range\(comma)"
      + "Signature=\(Self.signature)"
    let read = try #require(SignatureAuthorization(text))
    #expect(read.credential.accessKey == "AKIAIOSFODNN7EXAMPLE")
    #expect(read.credential.scope == SignatureScope(day: "20130524", region: "us-east-1"))
    #expect(read.signedFields == ["host", "range"])
    #expect(read.signature == Self.signature)
    #expect(SignatureAuthorization(read.text) == read)
  }

  @Test(
    "A malformed Authorization is refused",
    arguments: [
      "", "Bearer abc", "AWS4-HMAC-SHA256",
      "AWS4-HMAC-SHA1 Credential=\(credential), SignedHeaders=host, Signature=\(signature)",
      "AWS4-HMAC-SHA256 Credential=\(credential), SignedHeaders=host",
      "AWS4-HMAC-SHA256 Credential=\(credential), SignedHeaders=host, Signature=abc",
      "AWS4-HMAC-SHA256 Credential=/20130524/r/s3/aws4_request, SignedHeaders=host, "
        + "Signature=\(signature)",
      "AWS4-HMAC-SHA256 Credential=a/2013/r/s3/aws4_request, SignedHeaders=host, "
        + "Signature=\(signature)",
      "AWS4-HMAC-SHA256 Credential=\(credential), SignedHeaders=Host, Signature=\(signature)",
      "AWS4-HMAC-SHA256 Credential=\(credential), SignedHeaders=range;host, Signature=\(signature)",
      "AWS4-HMAC-SHA256 Credential=\(credential), SignedHeaders=, Signature=\(signature)",
      "AWS4-HMAC-SHA256 Credential=\(credential), Credential=\(credential), SignedHeaders=host, "
        + "Signature=\(signature)",
    ])
  func refusesMalformedAuthorization(_ text: String) {
    #expect(SignatureAuthorization(text) == nil)
  }
}
