import HTTPWire
import S3Wire
import Testing

/// A request whose signature others have published.
struct SignatureVector: Sendable, CustomTestStringConvertible {
  var name: String
  var signer = SignatureVector.suite
  var service = "s3"
  var time = "20130524T000000Z"
  var method = "GET"
  /// Raw text.
  var path = "/"
  var query: [(String, String)] = []
  var fields: [CanonicalRequest.Field]
  var payload = PayloadHash.empty
  /// Empty where only the signature is published.
  var digest = ""
  var signature: String

  var testDescription: String { name }

  static let suite = (accessKey: "AKIDEXAMPLE", secret: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY")
  static let manual = (
    accessKey: "AKIAIOSFODNN7EXAMPLE", secret: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"
  )

  /// The public suite of tests for the signature, version 4.
  static func ofSuite(
    _ name: String, method: String = "GET", path: String = "/",
    more fields: [CanonicalRequest.Field] = [], payload: PayloadHash = .empty,
    digest: String = "", signature: String
  ) -> SignatureVector {
    SignatureVector(
      name: name, service: "service", time: "20150830T123600Z", method: method, path: path,
      fields: fields + [
        CanonicalRequest.Field("Host", "example.amazonaws.com"),
        CanonicalRequest.Field("X-Amz-Date", "20150830T123600Z"),
      ],
      payload: payload, digest: digest, signature: signature)
  }

  /// The examples of the S3 reference.
  static func ofManual(
    _ name: String, method: String = "GET", path: String, query: [(String, String)] = [],
    more fields: [CanonicalRequest.Field] = [], payload: PayloadHash = .empty, digest: String,
    signature: String
  ) -> SignatureVector {
    SignatureVector(
      name: name, signer: manual, method: method, path: path, query: query,
      fields: fields + [
        CanonicalRequest.Field("host", "examplebucket.s3.amazonaws.com"),
        CanonicalRequest.Field("x-amz-content-sha256", payload.text),
        CanonicalRequest.Field("x-amz-date", "20130524T000000Z"),
      ],
      payload: payload, digest: digest, signature: signature)
  }

  var request: CanonicalRequest {
    CanonicalRequest(
      method: method, path: S3Encoding.path(path),
      query: query.map { QueryString.Parameter(name: $0.0, value: $0.1) }, fields: fields,
      payload: payload)
  }

  func scope() throws -> SignatureScope {
    SignatureScope(day: try signedAt().day, region: "us-east-1", service: service)
  }

  func signedAt() throws -> SignatureTime { try #require(SignatureTime(time)) }
}
