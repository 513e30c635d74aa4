import Foundation
import GraphQL
import Testing

@testable import DemoUpstream

struct SchemaTextTests {
  static let example = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent().appending(path: "Examples/films")

  @Test("The example has the same schema")
  func exampleHasSameSchema() throws {
    let text = try String(
      contentsOf: Self.example.appending(path: "schema.graphql"), encoding: .utf8)
    #expect(text == FilmsSchema.sdl)
  }

  @Test("The schema is valid")
  func schemaIsValid() throws {
    let schema = try Schema.build(sdl: FilmsSchema.sdl)
    #expect(schema.validate().isEmpty)
    #expect(schema.types["Film"] != nil && FilmsSchema.schema.types.names == schema.types.names)
  }

  /// All files of the example form one document, because fragments can be used in other files. The
  /// gateway's directives are not in the schema.
  @Test("The operations of the example are valid")
  func exampleOperationsAreValid() throws {
    let folder = Self.example.appending(path: "operations")
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
      .filter { $0.hasSuffix(".graphql") }
    let documents = try names.map { name in
      let text = try String(contentsOf: folder.appending(path: name), encoding: .utf8)
      return try Parser.parse(Source(name: name, body: text))
    }
    let document = Document(joining: documents)
    let rules = Rule.executable.subtracting([.knownDirectives])
    let faults = Validator.validate(document, against: FilmsSchema.schema, rules: rules)
    #expect(faults.isEmpty, "\(faults)")
    #expect((10...24).contains(document.operations.count))
  }
}
