import HTTPClient
import HTTPTypes
import LosslessJSON
import Model
import Synchronization
import Testing

@testable import Upstream

/// An upstream with scripted responses that accepts only valid GraphQL requests.
final class ScriptedUpstream: Sendable {
  struct Seen: Sendable {
    let fields: HTTPFields
    let body: JSONValue
    let isSafeToRepeat: Bool
    let limit: Duration
  }

  private let answers: Mutex<[Result<HTTPClientResponse, HTTPClientError>]>
  private let requests = Mutex<[Seen]>([])

  init(_ answers: [Result<HTTPClientResponse, HTTPClientError>]) {
    self.answers = Mutex(answers)
  }

  convenience init(_ status: Int, _ type: String?, _ body: String, retryAfter: String? = nil) {
    self.init([.success(Self.response(status, type, body, retryAfter: retryAfter))])
  }

  static func response(
    _ status: Int, _ type: String?, _ body: String, retryAfter: String? = nil
  ) -> HTTPClientResponse {
    var fields = HTTPFields()
    fields[.contentType] = type
    fields[.retryAfter] = retryAfter
    return HTTPClientResponse(
      status: HTTPResponse.Status(code: status), fields: fields, body: Array(body.utf8))
  }

  var seen: [Seen] { requests.withLock { $0 } }

  /// Sun, 06 Nov 1994 08:49:37 GMT, fixed.
  static let clock = WallClock { Timestamp(milliseconds: 784_111_777_000) }

  func client(_ settings: UpstreamConfiguration = UpstreamConfiguration(url: "http://up/graphql"))
    -> UpstreamClient
  {
    UpstreamClient(settings: settings, clock: Self.clock) {
      request, limit throws(HTTPClientError) in
      #expect(request.method == .post)
      #expect(request.url.target == "/graphql")
      #expect(request.fields[.contentType] == "application/json")
      #expect(
        request.fields[.accept] == "application/graphql-response+json, application/json;q=0.9")
      let body = (try? JSONValue(parsing: request.body)) ?? .null
      let members = Set((body.members ?? []).map(\.name))
      #expect(members.isSubset(of: ["query", "operationName", "variables", "extensions"]))
      #expect(
        body["query"]?.string?.isEmpty == false
          || body["extensions"]?["persistedQuery"]?["sha256Hash"]?.string?.count == 64)
      let seen = Seen(
        fields: request.fields, body: body, isSafeToRepeat: request.isSafeToRepeat, limit: limit)
      self.requests.withLock { $0.append(seen) }
      guard let answer = self.answers.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) else {
        throw .clientClosed
      }
      return try answer.get()
    }
  }
}
