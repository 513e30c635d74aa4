import Model
import Testing

@testable import Upstream

/// Comments above operations, which describe them.
struct OperationCommentTests {
  private static let schema = "type Query { a: Int b: Int }"

  private static func description(_ text: String) throws -> String? {
    let loaded = OperationRegistry.load(
      files: [SourceFile(path: "operations.graphql", text: text)],
      schemaSources: [SourceFile(path: "schema.graphql", text: schema)],
      settings: RegistrySettings())
    return try #require(loaded.registry, "\(loaded.findings)").operation(named: "A")?.description
  }

  @Test(
    "The lines of the comment directly above an operation describe it",
    arguments: [
      ("# One.\nquery A { a }", "One."),
      ("# One.\n#   Two.\n##Three\nquery A { a }", "One.\nTwo.\nThree"),
      ("# One.\r\n# Two.\r\nquery A { a }", "One.\nTwo."),
      ("  # One.\n  query A { a }", "One."),
      ("# Of the file.\n\n# One.\nquery A { a }", "One."),
      ("# Of the file.\n\nquery A { a }", nil),
      ("#\n# \nquery A { a }", nil),
      ("query A { a }", nil),
      ("query B { b } # Of B.\nquery A { a }", nil),
      ("query B { b } query A { a }", nil),
      ("# A comment.\n\"A description.\" query A { a }", "A description."),
    ] as [(String, String?)])
  func commentsDescribe(text: String, description: String?) throws {
    #expect(try Self.description(text) == description)
  }
}
