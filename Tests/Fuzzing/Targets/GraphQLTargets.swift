import FoundationEssentials
import GraphQL

/// GraphQL documents: a parsed document prints to an equal one, the printed form prints to itself, and
/// validation and its reports terminate for any document.
enum GraphQLDocumentTarget {
  static func run(_ input: UnsafeRawBufferPointer) {
    let bytes = Array(input)
    let (document, faults) = Parser.parseRecovering(Source(bytes: bytes))
    Finding.require(!faults.isEmpty || !document.definitions.isEmpty, "neither document nor fault")
    for fault in faults {
      Finding.require(!fault.report.isEmpty, "an empty report")
      Finding.require(
        fault.locations.allSatisfy { $0.start <= bytes.count }, "a fault past the end of the text")
    }
    for fault in Validator.validate(document, against: BeastSchema.schema) { _ = fault.report }
    guard !document.definitions.isEmpty else { return }
    printAndParse(document)
  }

  static func printAndParse(_ document: Document) {
    let text = Printer.print(document)
    let again: Document
    do {
      again = try Parser.parse(Source(body: text))
    } catch {
      return Finding.require(false, "the printed document is refused: \(error)\n\(text)")
    }
    let isSame =
      again.definitions == document.definitions
      || content(of: again) == content(of: document)
    Finding.require(isSame, "printing changes:\n\(text)")
    Finding.require(Printer.print(again) == text, "two printed forms:\n\(text)")
  }

  /// The content of a document, however its strings are quoted: a text that a block string cannot hold is
  /// printed in single quotes.
  private static func content(of document: Document) -> String {
    var text = String(reflecting: document.definitions)
    for flag in ["isBlock: true", "isBlock: false"] {
      text = text.split(separator: flag).joined(separator: "isBlock")
    }
    for mark in ["startOffset: ", "endOffset: "] {
      text = text.split(separator: mark).map { $0.drop(while: \.isNumber) }.joined()
    }
    return text
  }
}

/// Schema texts: building a schema terminates for any document, and if it succeeds, it succeeds again from
/// the printed text.
enum GraphQLSchemaTarget {
  static func run(_ input: UnsafeRawBufferPointer) {
    let (document, faults) = Parser.parseRecovering(Source(bytes: Array(input)))
    let (schema, schemaFaults) = Schema.buildRecovering([document])
    for fault in schemaFaults { Finding.require(!fault.report.isEmpty, "an empty report") }
    _ = Validator.validate(document, against: schema)
    if !document.definitions.isEmpty { GraphQLDocumentTarget.printAndParse(document) }
    guard faults.isEmpty, schemaFaults.isEmpty, !document.definitions.isEmpty else { return }
    let again = try? Schema.build(sdl: Printer.print(document))
    Finding.require(again != nil, "a printed schema is refused")
  }
}

/// The schema of the GraphQL module's own tests.
enum BeastSchema {
  static let schema: Schema = {
    let folder = #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
    let path = "/\(folder)/GraphQLTests/Fixtures/beasts.graphql"
    guard let data = FileManager.default.contents(atPath: path) else {
      fatalError("\(path) cannot be read")
    }
    do {
      return try Schema.build(sdl: String(decoding: data, as: UTF8.self))
    } catch {
      fatalError("\(path): \(error)")
    }
  }()
}
