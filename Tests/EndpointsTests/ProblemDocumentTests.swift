import HTTPServer
import HTTPTypes
import HTTPWire
import LosslessJSON
import Model
import TestSupport
import Testing

@testable import Endpoints

struct ProblemDocumentTests {
  static let failure = Failure(
    .invalidVariables, "Two are wrong.", retry: .never,
    details: [
      .init(place: .parameter("limit"), detail: "is no number"),
      .init(place: .pointer("/filter/year"), detail: "is too large"),
    ],
    cause: "SELECT secret FROM /var/lib/larder")

  @Test("A problem has every member, and never the internal cause")
  func hasEveryMemberButTheCause() throws {
    let document = ProblemDocument(Self.failure, instance: "/api/films", requestID: "r-1")
    let body = try JSONValue(parsing: document.bytes())
    #expect(body["type"] == "about:blank")
    #expect(body["title"] == "Bad Request")
    #expect(body["status"]?.int64 == 400)
    #expect(body["detail"] == "Two are wrong.")
    #expect(body["instance"] == "/api/films")
    #expect(body["code"] == "invalid_variables")
    #expect(body["retry"] == "never")
    #expect(body["requestId"] == "r-1")
    #expect(body["errors"]?[0]?["parameter"] == "limit")
    #expect(body["errors"]?[1]?["pointer"] == "/filter/year")
    #expect(!body.text.contains("secret"))
  }

  @Test(
    "Every failure code has a 4xx or 5xx status with a reason phrase",
    arguments: Failure.Code.allCases)
  func everyCodeHasAStatusWithAReason(code: Failure.Code) {
    let status = FailureStatus.status(of: code)
    #expect((400...599).contains(status))
    #expect(!"\(StatusLine.reason(status))".isEmpty)
    #expect(code.rawValue.allSatisfy { $0.isLowercase || $0 == "_" })
  }

  @Test("A failure is never cacheable and never contains the query")
  func failuresAreNotCacheable() throws {
    for code in Failure.Code.allCases {
      let response = ServerResponse.failure(
        Failure(code, "No."), request: try request("GET", "/x?ticket=t"))
      #expect(response.fields[.cacheControl] == "no-store")
      #expect(response.fields[.contentType] == "application/problem+json")
      let status = response.status.code
      #expect((response.fields[.retryAfter] != nil) == (status == 503))
      #expect((response.fields[.wwwAuthenticate] != nil) == (status == 401))
      guard case .bytes(let bytes) = response.body else { continue }
      #expect(!String(decoding: bytes, as: UTF8.self).contains("ticket"))
    }
  }

  @Test(
    "A challenge names the realm, and an error if a token was sent",
    arguments: [
      (Failure.Code.unauthenticated, false, #"Bearer realm="larder""#),
      (.unauthenticated, true, #"Bearer realm="larder", error="invalid_token""#),
      (.tokenInvalid, true, #"Bearer realm="larder", error="invalid_token""#),
      (
        .tokenExpired, true,
        #"Bearer realm="larder", error="invalid_token", "#
          + #"error_description="The access token has expired""#
      ),
    ])
  func challenges(code: Failure.Code, hasToken: Bool, challenge: String) throws {
    let response = ServerResponse.failure(
      Failure(code, "No."),
      request: try hasToken
        ? request("GET", "/", ("Authorization", "Bearer t")) : request("GET", "/"))
    #expect(response.fields[.wwwAuthenticate] == challenge)
  }

  @Test("Retry-After is rounded up to whole seconds")
  func roundsRetryAfterUp() throws {
    let failure = Failure(.upstreamBusy, "Later.", retryAfter: .milliseconds(1_200))
    let response = ServerResponse.failure(failure, request: try request("GET", "/"))
    #expect(response.fields[.retryAfter] == "2")
  }
}
