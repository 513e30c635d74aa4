import GraphQL
import TestSupport

/// Generates valid documents for a schema: fragments, variables, directives and all kinds of literals.
struct DocumentGenerator {
  private let schema: Schema
  var random: SeededGenerator
  private var fragments: [FragmentDefinition] = []
  /// The variables a fragment uses, itself or through others.
  private var variablesByFragment: [String: [String: TypeReference]] = [:]
  /// The variables of the definition being generated.
  private var variables: [String: TypeReference] = [:]
  private var usedFragments = Set<String>()
  private var fragmentsByFragment: [String: Set<String>] = [:]
  private var aliasCount = 0

  init(schema: Schema, random: SeededGenerator) {
    self.schema = schema
    self.random = random
  }

  mutating func document() -> Document {
    fragments = []
    variablesByFragment = [:]
    fragmentsByFragment = [:]
    aliasCount = 0
    for index in 0..<Int.random(in: 0...3, using: &random) { addFragment("Part\(index)") }
    var operations: [OperationDefinition] = []
    var used = Set<String>()
    for index in 0..<Int.random(in: 1...3, using: &random) {
      guard let operation = operation(named: Name("Operation\(index)")) else { continue }
      operations.append(operation)
      used.formUnion(usedFragments)
    }
    if operations.count == 1, chance(1, of: 4) { operations[0].name = nil }
    let definitions =
      operations.map(Definition.operation)
      + fragments.filter { used.contains($0.name.value) }.map(Definition.fragment)
    return Document(definitions: definitions)
  }

  mutating func chance(_ part: Int, of whole: Int) -> Bool {
    Int.random(in: 0..<whole, using: &random) < part
  }

  private mutating func begin() {
    variables = [:]
    usedFragments = []
  }

  private mutating func addFragment(_ name: String) {
    begin()
    let composite = schema.types.filter { $0.isComposite && !$0.name.hasPrefix("__") }
    guard let type = composite.randomElement(using: &random) else { return }
    let set = selectionSet(on: type, depth: 2)
    fragments.append(
      FragmentDefinition(name: Name(name), typeCondition: Name(type.name), selectionSet: set))
    variablesByFragment[name] = variables
    fragmentsByFragment[name] = usedFragments
  }

  private mutating func operation(named name: Name) -> OperationDefinition? {
    begin()
    let kind = OperationType.allCases.randomElement(using: &random) ?? .query
    guard let root = schema.rootType(for: kind) else { return nil }
    var set = selectionSet(on: root, depth: 3)
    if kind == .subscription {
      guard let field = root.fields.randomElement(using: &random) else { return nil }
      begin()
      var root = self.field(field, depth: 2)
      // The reference breaks down over a condition by variable here.
      root.directives = []
      set = SelectionSet([.field(root)])
    }
    let directives = operationDirectives(kind)
    let definitions = variables.keys.sorted().map { name in
      let type = variables[name] ?? .named("Int")
      let hasDefault = !type.isNonNull && chance(1, of: 4)
      return VariableDefinition(
        name: Name(name), type: type, defaultValue: hasDefault ? literal(of: type, depth: 1) : nil)
    }
    return OperationDefinition(
      operation: kind, name: name, variableDefinitions: definitions, directives: directives,
      selectionSet: set)
  }

  private mutating func operationDirectives(_ kind: OperationType) -> [Directive] {
    let place: DirectiveLocation = kind == .query ? .query : .mutation
    let fitting = schema.directives.filter { $0.locations.contains(place) }
    guard kind != .subscription, chance(1, of: 4), let one = fitting.randomElement(using: &random)
    else { return [] }
    return [directive(one)]
  }

  private mutating func directive(_ definition: SchemaDirective) -> Directive {
    Directive(name: Name(definition.name), arguments: arguments(definition.arguments))
  }

  private mutating func selectionSet(on type: NamedType, depth: Int) -> SelectionSet {
    var selections: [Selection] = []
    for _ in 0..<Int.random(in: 1...4, using: &random) {
      switch Int.random(in: 0..<10, using: &random) {
      case 0: selections.append(.field(Field(name: Name("__typename"))))
      case 1:
        if let spread = spread(on: type) { selections.append(.fragmentSpread(spread)) }
      case 2 where depth > 0:
        if let fragment = inlineFragment(on: type, depth: depth) {
          selections.append(.inlineFragment(fragment))
        }
      default:
        guard let field = type.fields.randomElement(using: &random) else { continue }
        let isLeaf = schema.type(of: field.type)?.isLeaf ?? true
        if isLeaf || depth > 0 { selections.append(.field(self.field(field, depth: depth - 1))) }
      }
    }
    if selections.isEmpty { selections = [.field(Field(name: Name("__typename")))] }
    return SelectionSet(selections)
  }

  private mutating func spread(on type: NamedType) -> FragmentSpread? {
    let fitting = fragments.filter { fragment in
      schema.type(named: fragment.typeCondition.value)
        .map { schema.typesOverlap($0, type) } ?? false
    }
    guard let fragment = fitting.randomElement(using: &random) else { return nil }
    let name = fragment.name.value
    variables.merge(variablesByFragment[name] ?? [:], uniquingKeysWith: { first, _ in first })
    usedFragments.insert(name)
    usedFragments.formUnion(fragmentsByFragment[name] ?? [])
    return FragmentSpread(name: Name(name), directives: conditions())
  }

  private mutating func inlineFragment(on type: NamedType, depth: Int) -> InlineFragment? {
    let fitting = schema.types.filter {
      $0.isComposite && !$0.name.hasPrefix("__") && schema.typesOverlap($0, type)
    }
    guard let inner = fitting.randomElement(using: &random) else { return nil }
    let isBare = chance(1, of: 5)
    return InlineFragment(
      typeCondition: isBare ? nil : Name(inner.name), directives: conditions(),
      selectionSet: selectionSet(on: isBare ? type : inner, depth: depth - 1))
  }

  private mutating func field(_ definition: SchemaField, depth: Int) -> Field {
    // A name of its own keeps the field from overlapping with another.
    aliasCount += 1
    let type = schema.type(of: definition.type)
    return Field(
      alias: Name("\(definition.name)_\(aliasCount)"), name: Name(definition.name),
      arguments: arguments(definition.arguments), directives: conditions(),
      selectionSet: type.flatMap {
        $0.isComposite ? selectionSet(on: $0, depth: max(depth, 0)) : nil
      })
  }

  private mutating func conditions() -> [Directive] {
    guard chance(1, of: 6) else { return [] }
    let name = Bool.random(using: &random) ? "include" : "skip"
    let argument = Argument(
      name: Name("if"), value: variable(of: .nonNull(.named("Boolean"))))
    return [Directive(name: Name(name), arguments: [argument])]
  }

  private mutating func arguments(_ declared: NamedList<InputValue>) -> [Argument] {
    declared.compactMap { definition in
      guard definition.isRequired || Bool.random(using: &random) else { return nil }
      return Argument(name: Name(definition.name), value: value(of: definition.type, depth: 2))
    }
  }

  private mutating func value(of type: TypeReference, depth: Int) -> Value {
    chance(1, of: 3) ? variable(of: type) : literal(of: type, depth: depth)
  }

  /// Returns the variable named after its type, so that all uses agree.
  private mutating func variable(of type: TypeReference) -> Value {
    let spelling = "\(type)".map { character -> String in
      switch character {
      case "[": "L"
      case "]": "_"
      case "!": "N"
      default: String(character)
      }
    }.joined()
    let name = "v" + spelling
    variables[name] = type
    return Value(.variable(name))
  }

  mutating func literal(of type: TypeReference, depth: Int) -> Value {
    if !type.isNonNull, chance(1, of: 8) { return Value(.null) }
    if let item = type.item {
      if chance(1, of: 4), depth > 0 { return literal(of: item, depth: depth - 1) }
      let count = Int.random(in: 0...2, using: &random)
      return Value(.list((0..<count).map { _ in literal(of: item, depth: depth - 1) }))
    }
    guard let named = schema.type(of: type) else { return Value(.null) }
    switch named.kind {
    case .enum:
      return Value(.enum(named.values.randomElement(using: &random)?.name ?? "NONE"))
    case .inputObject:
      return object(of: named, depth: depth)
    default:
      return scalar(named.name)
    }
  }

  private mutating func object(of type: NamedType, depth: Int) -> Value {
    if type.isOneOf {
      guard let field = type.inputFields.randomElement(using: &random) else { return Value(.null) }
      let value = literal(of: .nonNull(field.type.nullable), depth: depth - 1)
      return Value(.object([ObjectField(name: Name(field.name), value: value)]))
    }
    let fields = type.inputFields.compactMap { field -> ObjectField? in
      guard field.isRequired || (depth > 0 && Bool.random(using: &random)) else { return nil }
      return ObjectField(name: Name(field.name), value: literal(of: field.type, depth: depth - 1))
    }
    return Value(.object(fields))
  }

  private mutating func scalar(_ name: String) -> Value {
    let number = String(Int.random(in: -50...3000, using: &random))
    switch name {
    case "Int": return Value(.int(number))
    case "Float":
      return Bool.random(using: &random) ? Value(.int(number)) : Value(.float(number + ".5"))
    case "Boolean": return Value(.boolean(Bool.random(using: &random)))
    case "ID":
      return Bool.random(using: &random)
        ? Value(.int(number)) : Value(.string("id-\(number)", isBlock: false))
    default: return Value(.string("text \(number)", isBlock: chance(1, of: 5)))
    }
  }
}
