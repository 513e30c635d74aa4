/// The types, directives and roots that SDL documents declare, put together.
///
/// It tolerates invalid documents (of two types with the same name the first counts, an extension of
/// an unknown type is left out): the validation rules report the faults.
struct SchemaParts {
  private(set) var description: String?
  private(set) var types: [NamedType] = []
  private(set) var directives: [SchemaDirective] = []
  private(set) var rootNames: [OperationType: String] = [:]
  private(set) var appliedDirectives: [Directive] = []

  /// With a base the documents add to it: their definitions join its types, their extensions
  /// extend them.
  init(_ documents: [Document], extending base: Schema?) {
    let definitions = documents.flatMap(\.definitions)
    addTypes(definitions, to: base)
    addDirectives(definitions, to: base)
    addRoots(definitions, to: base)
  }

  private mutating func addTypes(_ definitions: [Definition], to base: Schema?) {
    var order: [String] = []
    var declarations: [String: TypeDefinition] = [:]
    var extensions: [String: [TypeDefinition]] = [:]
    for case .type(let type) in definitions {
      let name = type.name.value
      if type.isExtension {
        extensions[name, default: []].append(type)
      } else if declarations[name] == nil, base?.types[name] == nil {
        order.append(name)
        declarations[name] = type
      }
    }
    for type in base?.types ?? NamedList() where !BuiltIns.isBuiltIn(type: type.name) {
      types.append(NamedType(type, extendedBy: extensions[type.name] ?? []))
    }
    for name in order {
      guard let declaration = declarations[name] else { continue }
      types.append(
        NamedType(nil, declaration: declaration, extendedBy: extensions[name] ?? []))
    }
  }

  private mutating func addDirectives(_ definitions: [Definition], to base: Schema?) {
    directives = base.map { Array($0.directives) } ?? []
    let known = Set(directives.map(\.name))
    for case .directive(let node) in definitions where !known.contains(node.name.value) {
      directives.append(SchemaDirective(node))
    }
  }

  private mutating func addRoots(_ definitions: [Definition], to base: Schema?) {
    description = base?.description
    appliedDirectives = base?.appliedDirectives ?? []
    for operation in OperationType.allCases {
      rootNames[operation] = base?.rootName(for: operation)
    }
    var hasDefinition = false
    for case .schema(let schema) in definitions {
      hasDefinition = hasDefinition || !schema.isExtension
      description = description ?? schema.description?.text
      appliedDirectives += schema.directives
      for root in schema.operationTypes where rootNames[root.operation] == nil {
        rootNames[root.operation] = root.type.value
      }
    }
    guard !hasDefinition, base == nil else { return }
    let names = Set(types.map(\.name))
    for operation in OperationType.allCases where names.contains(operation.defaultTypeName) {
      rootNames[operation] = rootNames[operation] ?? operation.defaultTypeName
    }
  }
}

extension OperationType {
  /// The default name of the root type (specification 3.3.1).
  var defaultTypeName: String {
    switch self {
    case .query: "Query"
    case .mutation: "Mutation"
    case .subscription: "Subscription"
    }
  }
}

extension Schema {
  /// Builds a schema from SDL documents (files of one schema, in any order).
  ///
  /// Throws every fault of the documents and of the type system they declare. `tolerated` rules
  /// are not reported: `.knownDirectives` tolerates directives that a vendor's export does not declare.
  package static func build(
    _ documents: [Document], extending base: Schema? = nil, tolerating tolerated: Set<Rule> = []
  ) throws(Faults) -> Schema {
    let (schema, faults) = buildRecovering(documents, extending: base, tolerating: tolerated)
    guard faults.isEmpty else { throw Faults(faults) }
    return schema
  }

  /// Builds a schema as far as possible, and returns its faults.
  package static func buildRecovering(
    _ documents: [Document], extending base: Schema? = nil, tolerating tolerated: Set<Rule> = []
  ) -> (schema: Schema, faults: [Fault]) {
    let parts = SchemaParts(documents, extending: base)
    let schema = Schema(
      description: parts.description, types: parts.types, directives: parts.directives,
      rootNames: parts.rootNames, appliedDirectives: parts.appliedDirectives)
    let documentFaults = TypeSystemValidator.validate(
      Document(joining: documents), building: schema, extending: base)
    // The document's rules report an unknown type at its own place.
    let schemaFaults = schema.validate().filter { $0.rule != .knownTypeNames }
    let faults = (documentFaults + schemaFaults).filter { !tolerated.contains($0.rule) }
    return (schema, faults)
  }

  /// Parses SDL and builds its schema, for schemas written in code.
  package static func build(sdl: String, name: String = "schema") throws(Faults) -> Schema {
    try build([Parser.parse(Source(name: name, body: sdl))])
  }
}
