extension Schema {
  /// Builds a schema from SDL documents (files of one schema, in any order).
  ///
  /// Throws every fault of the documents and of the type system they declare. `tolerated` rules
  /// are not reported: `.knownDirectives` lets pass what a vendor's export does not declare.
  package static func build(
    _ documents: [Document], extending base: Schema? = nil, tolerating tolerated: Set<Rule> = []
  ) throws(Faults) -> Schema {
    let (schema, faults) = buildRecovering(documents, extending: base, tolerating: tolerated)
    guard faults.isEmpty else { throw Faults(faults) }
    return schema
  }

  /// The schema as far as it can be made out, and what is wrong with it.
  package static func buildRecovering(
    _ documents: [Document], extending base: Schema? = nil, tolerating tolerated: Set<Rule> = []
  ) -> (schema: Schema, faults: [Fault]) {
    let parts = SchemaParts(documents, extending: base)
    let schema = Schema(
      description: parts.description, types: parts.types, directives: parts.directives,
      rootNames: parts.rootNames, appliedDirectives: parts.appliedDirectives)
    let documentFaults = TypeSystemValidator.validate(
      Document(joining: documents), building: schema, extending: base)
    // The document's rules name an unknown type at its own place.
    let schemaFaults = schema.validate().filter { $0.rule != .knownTypeNames }
    let faults = (documentFaults + schemaFaults).filter { !tolerated.contains($0.rule) }
    return (schema, faults)
  }

  /// Parses and builds one text: for schemas written in code.
  package static func build(sdl: String, name: String = "schema") throws(Faults) -> Schema {
    try build([Parser.parse(Source(name: name, body: sdl))])
  }
}
