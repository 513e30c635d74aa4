import Foundation
import HTTPWire
import LosslessJSON
import S3Wire
import TestSupport
import Testing

/// A client of the S3 dialect with an access key of its own.
struct SignedClient {
  let larder: RunningLarder
  let id: String
  let secret: String

  /// - Parameter settings: the body of the request that creates the key.
  static func issue(_ larder: RunningLarder, _ settings: String = "{}") async throws -> SignedClient
  {
    let answer = try await larder.post(
      "/v1/admin/s3/keys", settings, ("Authorization", "Bearer \(RunningLarder.adminToken)"))
    #expect(answer.status == 201)
    let body = try JSONValue(parsing: answer.body)
    return SignedClient(
      larder: larder, id: try #require(body["accessKeyId"]?.string),
      secret: try #require(body["secretAccessKey"]?.string))
  }

  /// Sends a signed request.
  ///
  /// - Parameters:
  ///   - target: the path, and after `?` the query, encoded.
  ///   - signedPath: the path that is signed; nil for that of the target.
  func ask(
    _ method: String, _ target: String, _ headers: [(String, String)] = [], body: String? = nil,
    signedPath: String? = nil, host: String = "localhost", port: Int? = nil
  ) async throws -> RawResponse {
    let parts = target.split(separator: "?", maxSplits: 1).map(String.init)
    let query = parts.count > 1 ? try QueryString(parts[1]).parameters : []
    let now = HTTPDate(secondsSince1970: Int64(Date().timeIntervalSince1970))
    let fields = RequestSigner(accessKey: id, secretKey: secret).fields(
      method: method, path: signedPath ?? parts[0], query: query, host: host,
      fields: headers.filter { $0.0.lowercased().hasPrefix("x-amz-") }.map {
        CanonicalRequest.Field($0.0.lowercased(), $0.1)
      },
      payload: PayloadHash(of: Array((body ?? "").utf8)), at: SignatureTime(now),
      region: "eu-west-1")
    return try await larder.request(
      method, target,
      headers: [("Host", host)] + headers + fields.map { ($0.name, $0.value) }
        + [("Content-Type", "application/octet-stream")],
      body: body ?? (["PUT", "POST"].contains(method) ? "" : nil), port: port)
  }
}

extension RawResponse {
  /// The code of an error of the S3 dialect; nil for any other response.
  var s3Code: String? {
    guard let root = try? XMLReader.read(body), root.name == "Error" else { return nil }
    return root["Code"]?.text
  }
}
