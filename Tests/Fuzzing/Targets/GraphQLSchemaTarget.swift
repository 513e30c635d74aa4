import GraphQL

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
