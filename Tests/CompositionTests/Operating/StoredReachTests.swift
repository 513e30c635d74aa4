import Testing

@testable import Composition

/// What `larder check` says of who can read stored entities: never less than who can.
struct StoredReachTests {
  private static let schema = "type Query { films: [Film!]! } type Film { id: ID! title: String }"
  private static let each = "each caller, what was fetched with their own credential"

  private static func readers(
    _ directives: String, upstream: String = "", settings: String = ""
  ) throws -> String? {
    let folder = try OperationsFolder(
      schema: schema, operations: ["a.graphql": "query A \(directives) { films { id title } }"])
    let text = CheckReport(try folder.open(settings, upstream: upstream)).text
    return text.split(separator: "\n").first { $0.hasPrefix("  Film: ") }.map {
      String($0.dropFirst("  Film: ".count))
    }
  }

  private static let auth0 = """
    accounts: {provider: auth0, domain: a.example, clientId: c, clientSecret: s, audience: x}
    """

  /// The operation's directives, members of `upstream`, other settings, and who is named.
  private static let cases: [(String, String, String, String)] = [
    ("@cache(scope: PUBLIC)", "", "", "anyone"),
    (
      "@cache(scope: PUBLIC)", ", dialect: hasura, secret: x", "",
      "users verified here, the operator"
    ),
    (
      "@cache(scope: PUBLIC) @access(role: ADMIN)", ", dialect: hasura, secret: x", "", "role admin"
    ),
    ("@cache(scope: PUBLIC) @access(role: USER)", "", "", "role user"),
    (
      #"@cache(scope: CLAIM, claim: "org_id")"#, ", forward: [authorization]", auth0,
      "verified users with the same org_id"
    ),
    // A caller without a token is let through, and upstream asked without one.
    ("", ", forward: [authorization]", auth0, "anyone; \(each)"),
    // Where that would be the service's own response, such a caller is refused.
    ("", ", dialect: hasura, forward: [authorization], secret: x", auth0, each),
    // Tokens of local accounts are not sent on: their users are answered as the service is.
    (
      "", ", forward: [authorization], dialect: hasura, secret: x", "accounts: {provider: local}",
      "users verified here, the operator; \(each)"
    ),
    // Without a credential that is sent on, every response is the service's.
    ("", ", forward: [x-tenant]", "", "anyone"),
  ]

  @Test(arguments: cases.indices)
  func namesWhoCanRead(index: Int) throws {
    let (directives, upstream, settings, expected) = Self.cases[index]
    #expect(
      try Self.readers(directives, upstream: upstream, settings: settings) == expected,
      "\(directives) \(upstream) \(settings)")
  }
}
