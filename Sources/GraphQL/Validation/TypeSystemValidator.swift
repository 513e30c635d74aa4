/// Validates the documents that a schema is built from, by the SDL rules of the reference
/// implementation. Rules on the finished type system are left to `Schema.validate()`.
struct TypeSystemValidator {
  let document: Document
  /// The schema built from the document as far as possible: it has all names.
  let schema: Schema
  /// The schema that the document adds to.
  let base: Schema?
  private var faults: [Fault] = []

  static func validate(
    _ document: Document, building schema: Schema, extending base: Schema?
  ) -> [Fault] {
    var validator = TypeSystemValidator(document: document, schema: schema, base: base)
    validator.validateDefinitions()
    validator.validateUniqueness()
    validator.validateRoots()
    validator.validateExtensions()
    return validator.faults.sortedByPlace(in: document)
  }

  private init(document: Document, schema: Schema, base: Schema?) {
    self.document = document
    self.schema = schema
    self.base = base
  }

  mutating func report(_ rule: Rule, _ message: String, _ locations: [Location]) {
    faults.append(Fault(rule, message, at: locations))
  }
}

/// Each definition by itself: the names and directives in it.
extension TypeSystemValidator {
  private mutating func validateDefinitions() {
    var seenOnSchema: [Directive] = []
    var seenOnType: [String: [Directive]] = [:]
    for definition in document.definitions {
      switch definition {
      case .operation, .fragment:
        report(
          .executableDefinitions, "A schema cannot contain operations or fragments.",
          [definition.location])
      case .schema(let schema):
        seenOnSchema += schema.directives
        visitEach(schema.directives, at: .schema)
        for root in schema.operationTypes { visit(root.type) }
      case .type(let type):
        seenOnType[type.name.value, default: []] += type.directives
        visit(type)
      case .directive(let directive):
        for argument in directive.arguments { visit(argument, at: .argumentDefinition) }
      }
    }
    // Directives of a definition and of its extensions share one location.
    for directives in [seenOnSchema] + seenOnType.values {
      faults += schema.faultsOfRepetition(directives)
    }
  }

  private mutating func visit(_ type: TypeDefinition) {
    visitEach(type.directives, at: type.place)
    for interface in type.interfaces { visit(interface) }
    for member in type.members { visit(member) }
    for value in type.enumValues { visitAll(value.directives, at: .enumValue) }
    for field in type.inputFields { visit(field, at: .inputFieldDefinition) }
    for field in type.fields {
      visit(field.type.name)
      visitAll(field.directives, at: .fieldDefinition)
      for argument in field.arguments { visit(argument, at: .argumentDefinition) }
    }
  }

  private mutating func visit(_ value: InputValueDefinition, at place: DirectiveLocation) {
    visit(value.type.name)
    visitAll(value.directives, at: place)
    if let defaultValue = value.defaultValue { faults += defaultValue.faultsOfRepeatedFields }
  }

  private mutating func visit(_ typeName: Name) {
    guard schema.type(named: typeName.value) == nil else { return }
    let hint = NearestNames.didYouMean(typeName.value, among: schema.types.names)
    report(.knownTypeNames, "Unknown type \"\(typeName)\".\(hint)", [typeName.location])
  }

  private mutating func visitAll(_ directives: [Directive], at place: DirectiveLocation) {
    faults += schema.faultsOfRepetition(directives)
    visitEach(directives, at: place)
  }

  private mutating func visitEach(_ directives: [Directive], at place: DirectiveLocation) {
    let checker = LiteralChecker(schema: schema)
    for directive in directives {
      if let fault = schema.faultOfUse(directive, at: place) { faults.append(fault) }
      faults += schema.faultsOfArgumentNames(directive)
      faults += schema.faultsOfMissingArguments(directive)
      faults += directive.arguments.faultsOfRepetition
      let definition = schema.directive(named: directive.name.value)
      for argument in directive.arguments {
        faults += argument.value.faultsOfRepeatedFields
        if let type = definition?.arguments[argument.name.value]?.type {
          faults += checker.faults(of: argument.value, as: type)
        }
      }
    }
  }
}

/// Relations between definitions.
extension TypeSystemValidator {
  private mutating func validateRoots() {
    let schemas = document.definitions.compactMap { definition -> SchemaDefinition? in
      if case .schema(let schema) = definition { schema } else { nil }
    }
    let definitions = schemas.filter { !$0.isExtension }
    if definitions.count > 1 {
      report(
        .loneSchemaDefinition, "Must provide only one schema definition.",
        definitions.map(\.location))
    } else if base != nil, let definition = definitions.first {
      report(
        .loneSchemaDefinition, "Cannot define a new schema within a schema extension.",
        [definition.location])
    }
    let roots = schemas.flatMap(\.operationTypes)
    for (operation, nodes) in roots.repeated(by: \.operation.rawValue) {
      report(
        .uniqueOperationTypes, "There can be only one \(operation) type in schema.",
        nodes.map(\.location))
    }
    for root in roots where base?.rootName(for: root.operation) != nil {
      report(
        .uniqueOperationTypes,
        "Type for \(root.operation.rawValue) already defined in the schema.", [root.location])
    }
  }

  private mutating func validateExtensions() {
    var kinds: [String: TypeKind] = [:]
    for case .type(let type) in document.definitions where !type.isExtension {
      kinds[type.name.value] = kinds[type.name.value] ?? type.kind
    }
    for case .type(let type) in document.definitions where type.isExtension {
      let name = type.name.value
      guard let kind = kinds[name] ?? base?.type(named: name)?.kind else {
        let known = Array(kinds.keys) + (base?.types.names ?? [])
        let hint = NearestNames.didYouMean(name, among: known)
        report(
          .possibleTypeExtensions,
          "Cannot extend type \"\(name)\" because it is not defined.\(hint)",
          [type.name.location])
        continue
      }
      if kind != type.kind {
        report(
          .possibleTypeExtensions, "Cannot extend non-\(type.kind.words) type \"\(name)\".",
          [type.location])
      }
    }
  }
}

extension TypeDefinition {
  fileprivate var place: DirectiveLocation {
    switch kind {
    case .scalar: .scalar
    case .object: .object
    case .interface: .interface
    case .union: .union
    case .enum: .enum
    case .inputObject: .inputObject
    }
  }
}

extension TypeKind {
  fileprivate var words: String {
    switch self {
    case .scalar: "scalar"
    case .object: "object"
    case .interface: "interface"
    case .union: "union"
    case .enum: "enum"
    case .inputObject: "input object"
    }
  }
}
