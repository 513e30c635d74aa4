import HTTPServer
import HTTPTypes
import LosslessJSON
import Model
import Testing

@testable import Endpoints

/// Failures in the form of GraphQL.
struct GraphQLRefusalTests {
  private static func response(
    _ refusal: GraphQLRefusal, _ accept: String? = nil
  ) throws -> (response: ServerResponse, body: JSONValue) {
    let response = ServerResponse.refusal(
      refusal, accept: GraphQLAccept(accept.map { ArraySlice(Array($0.utf8)) }),
      request: try request("GET", "/v1/graphql?ticket=secret"))
    guard case .bytes(let bytes) = response.body else { return (response, .null) }
    return (response, try JSONValue(parsing: bytes))
  }

  @Test(
    "Every failure is an error without data, with a status of 4xx or 5xx",
    arguments: Failure.Code.allCases)
  func everyFailureHasTheForm(code: Failure.Code) throws {
    let failure = Failure(
      code, "No.", retry: .after, details: [.init(place: .pointer("/id"), detail: "is wrong")],
      cause: "SELECT secret")
    for accept in [nil, "application/graphql-response+json", "text/html"] {
      let (response, body) = try Self.response(GraphQLRefusal(failure), accept)
      #expect((400...599).contains(response.status.code))
      #expect(response.fields[.cacheControl] == "no-store")
      #expect(
        response.fields[.contentType]
          == (accept == "application/graphql-response+json" ? accept : "application/json"))
      #expect(body.members?.map(\.name) == ["errors"])
      let error = body["errors"]?[0]
      #expect(error?["message"] == "No.")
      #expect(error?["extensions"]?["code"]?.string == code.rawValue)
      #expect(error?["extensions"]?["retry"] == "after")
      #expect(error?["extensions"]?["requestId"] == "r-1")
      #expect(error?["extensions"]?["errors"]?[0]?["pointer"] == "/variables/id")
      #expect(!body.text.contains("secret"))
      #expect((response.fields[.retryAfter] != nil) == (response.status.code == 503))
      #expect((response.fields[.wwwAuthenticate] != nil) == (response.status.code == 401))
      #expect((response.fields[.allow] != nil) == (code == .methodNotAllowed))
    }
  }

  @Test("The hash of an unknown query is 200 only for clients that read nothing but JSON")
  func unknownHashes() throws {
    for (accept, status) in [
      (nil, 200), ("application/json", 200), ("application/graphql-response+json", 404),
      ("application/graphql-response+json, application/json;q=0.9", 404),
    ] as [(String?, Int)] {
      let (response, body) = try Self.response(.hashUnknown, accept)
      #expect(response.status.code == status)
      #expect(body["errors"]?[0]?["message"] == "PersistedQueryNotFound")
      #expect(body["errors"]?[0]?["extensions"]?["code"] == "PERSISTED_QUERY_NOT_FOUND")
    }
  }
}
