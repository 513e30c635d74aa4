import HTTPWire
import S3Wire
import Testing

/// A request with a published signature.
struct SignatureVector: Sendable, CustomTestStringConvertible {
  var name: String
  var signer = SignatureVector.suite
  var service = "s3"
  var time = "20130524T000000Z"
  var method = "GET"
  /// The path before encoding.
  var path = "/"
  var query: [(String, String)] = []
  var fields: [CanonicalRequest.Field]
  var payload = PayloadHash.empty
  /// Empty if only the signature is published.
  var digest = ""
  var signature: String

  var testDescription: String { name }

  static let suite = (accessKey: "AKIDEXAMPLE", secret: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY")
  static let manual = (
    accessKey: "AKIAIOSFODNN7EXAMPLE", secret: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"
  )

  /// A vector of the public test suite for Signature Version 4.
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

  /// An example of the S3 reference.
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

extension SignatureVector {
  static let all = [
    ofSuite(
      "get-vanilla",
      digest: "bb579772317eb040ac9ed261061d46c1f17a8133879d6129b6e1c25292927e63",
      signature: "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"),
    ofSuite(
      "get-space-unnormalized", path: "/example space/",
      digest: "63ee75631ed7234ae61b5f736dfc7754cdccfedbff4b5128a915706ee9390d86",
      signature: "652487583200325589f1fba4c7e578f72c47cb61beeca81406b39ddec1366741"),
    ofSuite(
      "get-slash-unnormalized", path: "//",
      signature: "c88bcd3d312d75078c0cd961d6deae3f4c754924b01669efcfcb439fd5e5b76e"),
    ofSuite(
      "session token",
      more: [
        CanonicalRequest.Field(
          "X-Amz-Security-Token",
          "6e86291e8372ff2a2260956d9b8aae1d763fbf315fa00fa31553b73ebf194267")
      ],
      signature: "07ec1639c89043aa0e3e2de82b96708f198cceab042d4a97044c66dd9f74e7f8"),
    ofSuite(
      "form", method: "POST",
      more: [
        CanonicalRequest.Field("Content-Type", "application/x-www-form-urlencoded"),
        CanonicalRequest.Field("Content-Length", "13"),
        CanonicalRequest.Field(
          "X-Amz-Content-Sha256",
          "9095672bbd1f56dfc5b65f3e153adc8731a4a654192329106275f4c7b24d0b6e"),
      ],
      payload: PayloadHash(of: Array("Param1=value1".utf8)),
      signature: "d3875051da38690788ef43de4db0d8f280229d82040bfac253562e56c3f20e0b"),
    ofManual(
      "range", path: "/test.txt", more: [CanonicalRequest.Field("Range", "bytes=0-9")],
      digest: "7344ae5b7ee6c3e7e6b0fe0640412a37625d1fbfff95c48bbb2dc43964946972",
      signature: "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"),
    ofManual(
      "put", method: "PUT", path: "/test$file.text",
      more: [
        CanonicalRequest.Field("Date", "Fri, 24 May 2013 00:00:00 GMT"),
        CanonicalRequest.Field("x-amz-storage-class", "REDUCED_REDUNDANCY"),
      ],
      payload: PayloadHash(of: Array("Welcome to Amazon S3.".utf8)),
      digest: "9e0e90d9c76de8fa5b200d8c849cd5b8dc7a3be3951ddb7f6a76b4158342019d",
      signature: "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd"),
    ofManual(
      "lifecycle", path: "/", query: [("lifecycle", "")],
      digest: "9766c798316ff2757b517bc739a67f6213b4ab36dd5da2f94eaebf79c77395ca",
      signature: "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"),
    ofManual(
      "list", path: "/", query: [("prefix", "J"), ("max-keys", "2")],
      digest: "df57d21db20da04d7fa30298dd4488ba3a2b47ca3a489c74750e0f1e7df1b9b7",
      signature: "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"),
  ]
}
