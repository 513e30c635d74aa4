import LosslessJSON
import Model
import Testing

@testable import Endpoints

/// The credentials in the payload of `connection_init`.
struct GraphQLCredentialsTests {
  private static let names: Set = ["authorization", "device-token", "x-tenant"]

  @Test(
    "Credentials are found in the payload or its headers, whatever the case of their names",
    arguments: [
      #"{"Authorization":"Bearer a","Device-Token":"d"}"#,
      #"{"headers":{"AUTHORIZATION":"Bearer a","device-token":"d"}}"#,
      #"{"authorization":"\tBearer a ","headers":{"Device-Token":"d"},"other":{}}"#,
      #"{"authorization":"Bearer a","device-token":"d","x-tenant":null,"headers":{"x-tenant":""}}"#,
    ])
  func findsCredentials(payload: String) throws {
    let given = try GraphQLCredentials(
      payload: try JSONValue(parsing: payload), names: Self.names)
    #expect(given.value(of: "authorization") == "Bearer a")
    #expect(given.value(of: "device-token") == "d")
    #expect(given.value(of: "x-tenant") == nil)
  }

  @Test("Members that identify no caller are ignored")
  func ignoresOtherMembers() throws {
    let given = try GraphQLCredentials(
      payload: ["Host": "a", "Cookie": "b", "x-forwarded-for": 1], names: Self.names)
    #expect(given.value(of: "host") == nil && given.value(of: "cookie") == nil)
  }

  @Test(
    "A value that no header field can have is refused",
    arguments: [
      ["Authorization": "Bearer a\r\nX-Hasura-Role: admin"], ["Authorization": "a\u{0}b"],
      ["x-tenant": "a\nb"], ["Authorization": 1], ["headers": ["authorization": ["Bearer a"]]],
      ["Authorization": "Bearer a", "authorization": "Bearer b"],
      ["Authorization": "Bearer a", "headers": ["Authorization": "Bearer b"]],
      ["x-tenant": .string(String(repeating: "a", count: GraphQLCredentials.valueBytesMax + 1))],
    ] as [JSONValue])
  func refusesImpossibleValues(payload: JSONValue) throws {
    let failure = try #require(
      #expect(throws: Failure.self) {
        try GraphQLCredentials(payload: payload, names: Self.names)
      })
    #expect(failure.code == .malformedRequest)
  }
}
