import GraphQL

/// Checks for reserved names, and for misplaced field directives.
struct SelectionChecker {
  let schema: Schema
  let keys: EntityKeys
  private(set) var findings: [Finding] = []

  init(schema: Schema, keys: EntityKeys) {
    self.schema = schema
    self.keys = keys
  }

  mutating func check(_ operation: OperationDefinition) {
    guard let root = schema.rootType(for: operation.operation) else { return }
    check(operation.selectionSet, on: root)
  }

  mutating func check(_ fragment: FragmentDefinition) {
    guard let type = schema.type(named: fragment.typeCondition.value) else { return }
    check(fragment.selectionSet, on: type)
  }

  private mutating func check(_ set: SelectionSet, on type: NamedType) {
    for selection in set.selections {
      switch selection {
      case .field(let field): check(field, on: type)
      case .inlineFragment(let fragment):
        let inner = fragment.typeCondition.flatMap { schema.type(named: $0.value) } ?? type
        check(fragment.selectionSet, on: inner)
      case .fragmentSpread: continue
      }
    }
  }

  private mutating func check(_ field: Field, on type: NamedType) {
    if ReservedNames.isReserved(field.responseKey) {
      fault(
        "Names beginning with \"\(ReservedNames.prefix)\" are reserved for added fields.",
        at: (field.alias ?? field.name).location)
    }
    guard let declared = schema.field(named: field.name.value, on: type) else { return }
    if let directive = field.directives.directive(named: ClientDirectives.complete) {
      checkComplete(directive, on: declared)
    }
    if let directive = field.directives.directive(named: ClientDirectives.authoritative) {
      checkAuthoritative(directive, field, declared, on: type)
    }
    if let set = field.selectionSet, let inner = schema.type(of: declared.type) {
      check(set, on: inner)
    }
  }

  private mutating func checkComplete(_ directive: Directive, on field: SchemaField) {
    if field.type.item == nil {
      fault(
        "@complete can only be applied to a list; \(field.name) is not a list.",
        at: directive.location)
    } else if PagingRule.of(field, schema: schema) != nil {
      fault(
        "@complete can only be applied to an unpaginated list; \(field.name) is paginated.",
        at: directive.location)
    }
  }

  private mutating func checkAuthoritative(
    _ directive: Directive, _ field: Field, _ declared: SchemaField, on type: NamedType
  ) {
    let isRoot = type.name == schema.rootName(for: .query)
    let lookup = schema.type(of: declared.type).flatMap {
      keys.lookup(declared, type: $0, given: field.arguments)
    }
    guard !isRoot || lookup == nil else { return }
    fault(
      "@authoritative can only be applied to a root field that looks up one entity by its key.",
      at: directive.location)
  }

  private mutating func fault(_ message: String, at location: Location) {
    findings.append(Finding(.fault, message, at: location))
  }
}
