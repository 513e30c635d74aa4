import LosslessJSON
import TestSupport
import Testing

/// A session of an operator who signed in to the console of a running service.
struct ConsoleSession {
  /// `larder-console=…`
  let cookie: (String, String)
  let csrf: (String, String)
  let role: String

  /// The fields of a request that acts as the operator.
  var fields: [(String, String)] { [cookie, csrf] }

  static func open(_ larder: RunningLarder, token: String) async throws -> ConsoleSession {
    let answer = try await signIn(larder, token: token)
    #expect(answer.status == 201, "\(answer.text)")
    return try ConsoleSession(answer)
  }

  static func signIn(
    _ larder: RunningLarder, token: String, headers: [(String, String)] = []
  ) async throws -> RawResponse {
    try await larder.request(
      "POST", "/v1/admin/session", headers: headers, body: #"{"token":"\#(token)"}"#)
  }

  init(_ answer: RawResponse) throws {
    let body = try JSONValue(parsing: answer.body)
    let setting = try #require(answer["set-cookie"])
    cookie = ("Cookie", String(try #require(setting.split(separator: ";").first)))
    csrf = ("Console-CSRF-Token", try #require(body["csrfToken"]?.string))
    role = try #require(body["role"]?.string)
  }
}
