import Testing

@testable import Composition

/// The readers of stored entities in the output of `larder check`, which must name all of them.
struct StoredReachTests {
  private static let schema = "type Query { films: [Film!]! } type Film { id: ID! title: String }"
  private static let each = "each caller, data fetched with their own credential"

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

  /// The operation's directives, members of `upstream`, other settings, and the expected readers.
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
    // A caller without a token is admitted, and upstream is called without one.
    ("", ", forward: [authorization]", auth0, "anyone; \(each)"),
    // If such a call would have the service's rights, the caller is refused.
    ("", ", dialect: hasura, forward: [authorization], secret: x", auth0, each),
    // Tokens of local accounts are not forwarded: calls of their users have the service's rights.
    (
      "", ", forward: [authorization], dialect: hasura, secret: x", "accounts: {provider: local}",
      "users verified here, the operator; \(each)"
    ),
    // Without a forwarded credential, every call has the service's rights.
    ("", ", forward: [x-tenant]", "", "anyone"),
  ]

  @Test(
    "The check report names all callers who can read stored entities",
    arguments: cases.indices)
  func namesWhoCanRead(index: Int) throws {
    let (directives, upstream, settings, expected) = Self.cases[index]
    #expect(
      try Self.readers(directives, upstream: upstream, settings: settings) == expected,
      "\(directives) \(upstream) \(settings)")
  }
}
