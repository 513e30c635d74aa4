import Model
import Testing

@testable import Upstream

/// Whose credential upstream refused: the service's own, or the caller's.
struct ServiceCredentialTests {
  struct Reply: Sendable, CustomTestStringConvertible {
    let status: Int
    let body: String
    /// Whether it refuses the credential as a whole, and whether it does for a public query.
    let isRefusal: Bool
    let isPublicRefusal: Bool

    init(_ status: Int, _ body: String, _ isRefusal: Bool, public isPublicRefusal: Bool? = nil) {
      self.status = status
      self.body = body
      self.isRefusal = isRefusal
      self.isPublicRefusal = isPublicRefusal ?? isRefusal
    }

    var testDescription: String { "\(status) \(body)" }
  }

  private static func errors(_ code: String, path: Bool = false, data: String? = nil) -> String {
    let place = path ? #","path":["film"]"# : ""
    let data = data.map { #","data":\#($0)"# } ?? ""
    return #"{"errors":[{"message":"x","extensions":{"code":"\#(code)"}\#(place)}]\#(data)}"#
  }

  static let replies = [
    Reply(401, "", true), Reply(403, "<html>", true),
    Reply(401, #"{"errors":[{"message":"x"}]}"#, true),
    Reply(403, #"{"errors":[{"message":"x"}]}"#, true),
    Reply(200, errors("access-denied"), true), Reply(200, errors("invalid-jwt"), true),
    Reply(200, errors("UNAUTHENTICATED"), true), Reply(500, errors("UNAUTHENTICATED"), true),
    Reply(200, errors("UNAUTHENTICATED", data: "null"), true),
    Reply(401, #"{"errors":[{"errorType":"UnauthorizedException","message":"x"}]}"#, true),
    // Codes that concern the operation.
    Reply(200, errors("permission-error"), false), Reply(403, errors("FORBIDDEN"), false),
    // The operation was executed; a field wants a user.
    Reply(200, errors("UNAUTHENTICATED", path: true, data: "null"), false, public: true),
    Reply(200, errors("UNAUTHENTICATED", path: true, data: #"{"film":null}"#), false),
    Reply(200, errors("FORBIDDEN", path: true, data: #"{"film":null}"#), false),
    Reply(200, errors("BAD_USER_INPUT"), false), Reply(200, #"{"data":{"film":null}}"#, false),
  ]

  struct Sender: Sendable, CustomTestStringConvertible {
    let name: String
    let secret: String?
    let headers: [UpstreamConfiguration.Header]
    let carriesUser: Bool
    /// The settings that a refusal names; empty if it is the caller's.
    let settings: [String]

    var testDescription: String { name }
  }

  static let senders = [
    Sender(
      name: "a secret", secret: "s", headers: [], carriesUser: false,
      settings: ["upstream.secret"]),
    Sender(
      name: "a key in a header", secret: nil,
      headers: [.init("X-Api-Key", "k"), .init("X-App", "a")],
      carriesUser: false, settings: ["upstream.headers.X-Api-Key"]),
    Sender(
      name: "both", secret: "s", headers: [.init("X-Api-Key", "k")], carriesUser: false,
      settings: ["upstream.secret", "upstream.headers.X-Api-Key"]),
    Sender(
      name: "no credential", secret: nil, headers: [.init("X-App", "a")], carriesUser: false,
      settings: []),
    Sender(name: "a user's", secret: "s", headers: [], carriesUser: true, settings: []),
  ]

  @Test(
    "Only a refusal of the service's own credential is a failure of the service",
    arguments: replies, senders)
  func whoseCredential(reply: Reply, sender: Sender) async throws {
    let settings = UpstreamConfiguration(
      url: "http://up/graphql", headers: sender.headers, secret: sender.secret)
    let call = UpstreamCall(carriesUserCredential: sender.carriesUser)
    for (scope, isRefusal) in [("PUBLIC", reply.isPublicRefusal), ("USER", reply.isRefusal)] {
      let operation = try Samples.operation(
        "query Film @cache(maxAge: 60, scope: \(scope)) { film(id: 1) { id } }")
      let upstream = ScriptedUpstream(reply.status, "application/json", reply.body)
      let result: Result<UpstreamResponse, UpstreamFailure>
      do throws(UpstreamFailure) {
        result = .success(
          try await upstream.client(settings).execute(operation, variables: .none, call: call))
      } catch {
        result = .failure(error)
      }
      let isService = isRefusal && !sender.settings.isEmpty
      switch result {
      case .failure(.serviceRefused(let refusal)):
        #expect(isService, "\(scope): \(refusal)")
        #expect(refusal.settings == sender.settings)
        #expect(sender.settings.allSatisfy(refusal.cure.contains))
      case .success(let response):
        #expect(!isService, "\(scope)")
        #expect(response.acceptsService == !sender.settings.isEmpty)
      case .failure(let failure): Issue.record("\(scope): \(failure)")
      }
    }
  }

  @Test("A refusal names the section of one of several upstreams")
  func namesItsSection() {
    let settings = UpstreamConfiguration(name: "shop", url: "http://up/graphql", secret: "s")
    #expect(settings.credentialSettings == ["upstreams.shop.secret"])
  }

  @Test(
    "A subscription with the service's own credential that is refused is a failure of the service",
    arguments: [
      (UpstreamFailure.refused(.unauthenticated), true), (.status(401, retryAfter: nil), true),
      (.status(403, retryAfter: nil), true), (.refused(.forbidden), false),
      (.lost(cause: "x"), false), (.rejected(reason: "x"), false),
    ])
  func subscriptions(failure: UpstreamFailure, isRefusal: Bool) {
    let settings = UpstreamConfiguration(url: "http://up/graphql", secret: "s")
    for event in [SubscriptionEvent.failed(failure), .interrupted(failure)] {
      switch settings.event(event) {
      case .failed(.serviceRefused(let refusal)), .interrupted(.serviceRefused(let refusal)):
        #expect(isRefusal && refusal.settings == ["upstream.secret"])
      case .failed(let other), .interrupted(let other): #expect(!isRefusal && other == failure)
      default: Issue.record("another event")
      }
    }
  }
}
