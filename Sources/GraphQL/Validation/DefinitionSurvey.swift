/// The facts about one operation or fragment that the rules need, gathered in one traversal: each site
/// with its types. A nil type is unknown, and rules skip such sites: the wrong name is reported at its
/// own place.
struct DefinitionSurvey {
  struct SelectionSetSite {
    let set: SelectionSet
    let parent: NamedType?
  }

  struct FieldSite {
    let field: Field
    let parent: NamedType?
    let definition: SchemaField?
  }

  struct SpreadSite {
    let spread: FragmentSpread
    let parent: NamedType?
  }

  struct InlineFragmentSite {
    let fragment: InlineFragment
    let parent: NamedType?
    /// The type inside: that of the condition, else the parent.
    let type: NamedType?
  }

  struct DirectivesSite {
    let directives: [Directive]
    let place: DirectiveLocation
  }

  /// A literal with its expected type: an argument's value or a variable's default.
  struct ValueSite {
    let value: Value
    let type: TypeReference?
  }

  struct VariableUsage {
    let name: Name
    let type: TypeReference?
    /// Whether the position has a default of its own for an absent variable.
    let hasDefault: Bool
    /// The one-of input type if the variable is the value of one of its fields.
    let oneOfType: NamedType?
    let literal: Location
  }

  private(set) var selectionSets: [SelectionSetSite] = []
  private(set) var fields: [FieldSite] = []
  private(set) var spreads: [SpreadSite] = []
  private(set) var inlineFragments: [InlineFragmentSite] = []
  private(set) var directives: [DirectivesSite] = []
  private(set) var values: [ValueSite] = []
  private(set) var variableUsages: [VariableUsage] = []
  private let schema: Schema

  init(_ operation: OperationDefinition, schema: Schema) {
    self.schema = schema
    let place: DirectiveLocation =
      switch operation.operation {
      case .query: .query
      case .mutation: .mutation
      case .subscription: .subscription
      }
    for variable in operation.variableDefinitions {
      visit(variable.directives, at: .variableDefinition)
      if let value = variable.defaultValue {
        let isInput = schema.type(of: variable.type)?.isInput ?? false
        values.append(ValueSite(value: value, type: isInput ? variable.type : nil))
      }
    }
    visit(operation.directives, at: place)
    let root = schema.rootType(for: operation.operation)
    visit(operation.selectionSet, on: root?.kind == .object ? root : nil)
  }

  init(_ fragment: FragmentDefinition, schema: Schema) {
    self.schema = schema
    visit(fragment.directives, at: .fragmentDefinition)
    let type = schema.type(named: fragment.typeCondition.value)
    visit(fragment.selectionSet, on: type.flatMap { $0.isComposite ? $0 : nil })
  }
}

extension DefinitionSurvey {
  private mutating func visit(_ set: SelectionSet, on parent: NamedType?) {
    selectionSets.append(SelectionSetSite(set: set, parent: parent))
    for selection in set.selections {
      switch selection {
      case .field(let field): visit(field, on: parent)
      case .fragmentSpread(let spread):
        spreads.append(SpreadSite(spread: spread, parent: parent))
        visit(spread.directives, at: .fragmentSpread)
      case .inlineFragment(let fragment):
        let type = fragment.typeCondition.map { schema.type(named: $0.value) } ?? parent
        inlineFragments.append(
          InlineFragmentSite(fragment: fragment, parent: parent, type: type))
        visit(fragment.directives, at: .inlineFragment)
        visit(fragment.selectionSet, on: type.flatMap { $0.isComposite ? $0 : nil })
      }
    }
  }

  private mutating func visit(_ field: Field, on parent: NamedType?) {
    let definition = parent.flatMap { schema.field(named: field.name.value, on: $0) }
    fields.append(FieldSite(field: field, parent: parent, definition: definition))
    for argument in field.arguments {
      visit(argument, as: definition?.arguments[argument.name.value])
    }
    visit(field.directives, at: .field)
    if let set = field.selectionSet {
      let type = definition.flatMap { schema.type(of: $0.type) }
      visit(set, on: type.flatMap { $0.isComposite ? $0 : nil })
    }
  }

  private mutating func visit(_ applied: [Directive], at place: DirectiveLocation) {
    if applied.isEmpty { return }
    directives.append(DirectivesSite(directives: applied, place: place))
    for directive in applied {
      let definition = schema.directive(named: directive.name.value)
      for argument in directive.arguments {
        visit(argument, as: definition?.arguments[argument.name.value])
      }
    }
  }

  private mutating func visit(_ argument: Argument, as definition: InputValue?) {
    let isInput = definition.flatMap { schema.type(of: $0.type) }?.isInput ?? false
    let type = isInput ? definition?.type : nil
    values.append(ValueSite(value: argument.value, type: type))
    collectVariables(
      in: argument.value, type: type, hasDefault: definition?.defaultValue != nil, oneOf: nil,
      literal: argument.value.location)
  }

  private mutating func collectVariables(
    in value: Value, type: TypeReference?, hasDefault: Bool, oneOf: NamedType?, literal: Location
  ) {
    switch value.kind {
    case .variable(let name):
      variableUsages.append(
        VariableUsage(
          name: Name(name, location: value.location), type: type, hasDefault: hasDefault,
          oneOfType: oneOf, literal: literal))
    case .list(let items):
      let itemType = type?.item ?? type?.nullable
      for item in items {
        collectVariables(
          in: item, type: itemType, hasDefault: false, oneOf: nil, literal: value.location)
      }
    case .object(let fields):
      let object = type.flatMap { schema.type(of: $0) }
      for field in fields {
        let definition = object?.inputFields[field.name.value]
        collectVariables(
          in: field.value, type: definition?.type, hasDefault: definition?.defaultValue != nil,
          oneOf: object?.isOneOf == true ? object : nil, literal: value.location)
      }
    case .int, .float, .string, .boolean, .null, .enum: break
    }
  }
}
