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
        fault.locations.allSatisfy { $0.start <= bytes.count }, "a fault behind the text")
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
      return Finding.require(false, "what is printed is no document: \(error)\n\(text)")
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
