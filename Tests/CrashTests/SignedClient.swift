import Foundation
import HTTPWire
import LosslessJSON
import S3Wire
import TestSupport
import Testing

/// A client of the S3 dialect with an access key of the operator's.
struct SignedClient {
  private let port: Int
  private let signer: RequestSigner

  /// Creates a key.
  init(port: Int) async throws {
    self.port = port
    let answer = try await onOwnThread {
      try RawClient(port: port).request(
        "POST", "/v1/admin/s3/keys",
        headers: [
          ("Content-Type", "application/json"),
          ("Authorization", "Bearer \(ServiceFolder.adminToken)"),
        ],
        body: "{}")
    }
    let key = try JSONValue(parsing: answer.body)
    signer = RequestSigner(
      accessKey: try #require(key["accessKeyId"]?.string),
      secretKey: try #require(key["secretAccessKey"]?.string))
  }

  /// - Parameter fields: extra fields, signed like the others.
  func request(
    _ method: String, _ path: String, query: [(String, String)] = [],
    fields: [(String, String)] = [], content: [UInt8] = []
  ) async throws -> RawResponse {
    let parameters = query.map { QueryString.Parameter(name: $0.0, value: $0.1) }
    let now = HTTPDate(secondsSince1970: Int64(Date().timeIntervalSince1970))
    let own = fields.map { CanonicalRequest.Field($0.0, $0.1) }
    let signed = signer.fields(
      method: method, path: path, query: parameters, host: "x", fields: own,
      payload: PayloadHash(of: content), at: SignatureTime(now), region: "us-east-1")
    var head = "\(method) \(path)?\(S3Encoding.canonicalQuery(parameters)) HTTP/1.1\r\nHost: x\r\n"
    for field in own + signed { head += "\(field.name): \(field.value)\r\n" }
    head += "Content-Length: \(content.count)\r\n\r\n"
    let (port, bytes) = (port, Array(head.utf8) + content)
    return try await onOwnThread {
      let client = try RawClient(port: port)
      try client.send(bytes)
      return try client.response(to: method)
    }
  }
}

extension RawResponse {
  /// The code in S3's error document.
  var errorCode: String? {
    (try? XMLReader.read(body)).flatMap { $0.name == "Error" ? $0["Code"]?.text : nil }
  }
}
