import LosslessJSON
import TestSupport
import Testing

/// A user with files in the bucket `mine`.
struct FileOwner: Sendable {
  let id: String
  private let token: String

  /// Signs a user up.
  init(_ client: RawClient) throws {
    let answer = try client.request(
      "POST", "/v1/auth/sign-up", headers: [("Content-Type", "application/json")],
      body: #"{"email":"ann@example.com","password":"correct horse battery staple"}"#)
    let body = try JSONValue(parsing: answer.body)
    id = try #require(body["userId"]?.string, "\(answer.text)")
    token = try #require(body["accessToken"]?.string, "\(answer.text)")
  }

  /// - Parameter target: a key of the owner's, and its suffix.
  func ask(
    _ client: RawClient, _ method: String, _ target: String, content: [UInt8] = [],
    json: String? = nil
  ) throws -> RawResponse {
    try ask(client, method, path: "/v1/files/mine/\(id)/\(target)", content: content, json: json)
  }

  func ask(
    _ client: RawClient, _ method: String, path: String, content: [UInt8] = [],
    json: String? = nil
  ) throws -> RawResponse {
    let body = json.map { Array($0.utf8) } ?? content
    let head = """
      \(method) \(path) HTTP/1.1
      Host: x
      Authorization: Bearer \(token)
      Content-Type: \(json == nil ? "text/plain" : "application/json")
      Content-Length: \(body.count)


      """.split(separator: "\n", omittingEmptySubsequences: false).joined(separator: "\r\n")
    try client.send(Array(head.utf8) + body)
    return try client.response(to: method)
  }
}
