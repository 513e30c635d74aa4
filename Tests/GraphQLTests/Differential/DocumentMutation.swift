import GraphQL
import TestSupport

/// A change that tends to break the rule it is named after; what it does break, the reference
/// tells.
struct DocumentMutation: Sendable {
  let rule: Rule
  let apply: @Sendable (inout DocumentEditor, Schema) -> Void

  static func mutations(for rule: Rule) -> [DocumentMutation] {
    all.filter { $0.rule == rule }
  }

  private init(_ rule: Rule, _ apply: @escaping @Sendable (inout DocumentEditor, Schema) -> Void) {
    self.rule = rule
    self.apply = apply
  }

  static let all: [DocumentMutation] = definitions + fragments + variables + fields + arguments

  private static let typename = Selection.field(Field(name: Name("__typename")))

  private static func typeNames(_ schema: Schema, _ isWanted: (NamedType) -> Bool) -> [String] {
    schema.types.filter { !$0.name.hasPrefix("__") && isWanted($0) }.map(\.name)
  }

  private static let definitions: [DocumentMutation] = [
    DocumentMutation(.executableDefinitions) { editor, _ in
      let type = TypeDefinition(
        name: Name("Extra"),
        body: .object(
          interfaces: [], fields: [FieldDefinition(name: Name("a"), type: .named("Int"))]))
      editor.document.definitions.append(.type(type))
    },
    DocumentMutation(.executableDefinitions) { editor, _ in
      let type = TypeDefinition(name: Name("Extra"), body: .scalar, isExtension: false)
      editor.document.definitions.insert(.type(type), at: 0)
    },
    DocumentMutation(.uniqueOperationNames) { editor, _ in
      let twins = editor.document.operations.map(Definition.operation)
      editor.document.definitions += twins
    },
    DocumentMutation(.loneAnonymousOperation) { editor, _ in
      let operation = OperationDefinition(operation: .query, selectionSet: SelectionSet([typename]))
      editor.document.definitions.append(.operation(operation))
    },
    DocumentMutation(.loneAnonymousOperation) { editor, _ in
      editor.editOperation { operation, _ in operation.name = nil }
    },
    DocumentMutation(.singleFieldSubscriptions) { editor, schema in
      guard let root = schema.rootType(for: .subscription) else { return }
      let leaf = root.fields.filter { schema.type(of: $0.type)?.isLeaf == true }.map { field in
        Selection.field(Field(alias: Name("x"), name: Name(field.name)))
      }
      let operation = OperationDefinition(
        operation: .subscription, name: Name("Watch"),
        selectionSet: SelectionSet([typename] + leaf))
      editor.document.definitions.append(.operation(operation))
    },
    DocumentMutation(.singleFieldSubscriptions) { editor, _ in
      for index in editor.document.definitions.indices {
        guard case .operation(var operation) = editor.document.definitions[index],
          operation.operation == .subscription
        else { continue }
        let inner = InlineFragment(selectionSet: SelectionSet([typename]))
        operation.selectionSet.selections.append(.inlineFragment(inner))
        editor.document.definitions[index] = .operation(operation)
      }
    },
  ]

  private static let fragments: [DocumentMutation] = [
    DocumentMutation(.knownTypeNames) { editor, _ in
      editor.editSelectionSet { set, _ in
        let fragment = InlineFragment(
          typeCondition: Name("Unknown"), selectionSet: SelectionSet([typename]))
        set.selections.append(.inlineFragment(fragment))
      }
    },
    DocumentMutation(.knownTypeNames) { editor, _ in
      editor.editFragment { fragment, _ in fragment.typeCondition.value += "s" }
    },
    DocumentMutation(.knownTypeNames) { editor, _ in
      editor.editOperation { operation, _ in
        guard !operation.variableDefinitions.isEmpty else { return }
        operation.variableDefinitions[0].type = .list(.nonNull(.named("Intt")))
      }
    },
    DocumentMutation(.fragmentsOnCompositeTypes) { editor, schema in
      let leaves = typeNames(schema) { !$0.isComposite }
      editor.editSelectionSet { set, random in
        let fragment = InlineFragment(
          typeCondition: Name(leaves.randomElement(using: &random) ?? "Int"),
          selectionSet: SelectionSet([typename]))
        set.selections.append(.inlineFragment(fragment))
      }
    },
    DocumentMutation(.fragmentsOnCompositeTypes) { editor, schema in
      let leaves = typeNames(schema) { !$0.isComposite }
      editor.editFragment { fragment, random in
        fragment.typeCondition = Name(leaves.randomElement(using: &random) ?? "Int")
      }
    },
    DocumentMutation(.uniqueFragmentNames) { editor, _ in
      let twins = editor.document.fragments.map(Definition.fragment)
      editor.document.definitions += twins
    },
    DocumentMutation(.knownFragmentNames) { editor, _ in
      editor.editSelectionSet { set, _ in
        set.selections.append(.fragmentSpread(FragmentSpread(name: Name("Part9"))))
      }
    },
    DocumentMutation(.noUnusedFragments) { editor, schema in
      let name = schema.rootName(for: .query) ?? "Query"
      let fragment = FragmentDefinition(
        name: Name("Idle"), typeCondition: Name(name), selectionSet: SelectionSet([typename]))
      editor.document.definitions.append(.fragment(fragment))
    },
    DocumentMutation(.possibleFragmentSpreads) { editor, schema in
      let types = typeNames(schema, \.isComposite)
      editor.editSelectionSet { set, random in
        let fragment = InlineFragment(
          typeCondition: Name(types.randomElement(using: &random) ?? "Query"),
          selectionSet: SelectionSet([typename]))
        set.selections.append(.inlineFragment(fragment))
      }
    },
    DocumentMutation(.possibleFragmentSpreads) { editor, _ in
      let names = editor.document.fragments.map(\.name.value)
      editor.editSelectionSet { set, random in
        guard let name = names.randomElement(using: &random) else { return }
        set.selections.append(.fragmentSpread(FragmentSpread(name: Name(name))))
      }
    },
    DocumentMutation(.noFragmentCycles) { editor, _ in
      let names = editor.document.fragments.map(\.name.value)
      editor.editFragment { fragment, random in
        guard let name = names.randomElement(using: &random) else { return }
        fragment.selectionSet.selections.append(
          .fragmentSpread(FragmentSpread(name: Name(name))))
      }
    },
  ]

  private static let variables: [DocumentMutation] = [
    DocumentMutation(.variablesAreInputTypes) { editor, schema in
      let outputs = typeNames(schema) { !$0.isInput }
      editor.editOperation { operation, random in
        let name = outputs.randomElement(using: &random) ?? "Query"
        operation.variableDefinitions.append(
          VariableDefinition(name: Name("out"), type: .list(.named(name))))
      }
    },
    DocumentMutation(.uniqueVariableNames) { editor, _ in
      editor.editOperation { operation, _ in
        guard var twin = operation.variableDefinitions.first else { return }
        twin.type = .named("String")
        operation.variableDefinitions.append(twin)
      }
    },
    DocumentMutation(.noUndefinedVariables) { editor, _ in
      editor.editOperation { operation, random in
        guard !operation.variableDefinitions.isEmpty else { return }
        operation.variableDefinitions.remove(
          at: Int.random(in: 0..<operation.variableDefinitions.count, using: &random))
      }
    },
    DocumentMutation(.noUndefinedVariables) { editor, _ in
      editor.editValue { value, _ in value.kind = .variable("missing") }
    },
    DocumentMutation(.noUnusedVariables) { editor, _ in
      editor.editOperation { operation, _ in
        operation.variableDefinitions.append(
          VariableDefinition(
            name: Name("idle"), type: .named("Int"), defaultValue: Value(.int("1"))))
      }
    },
    DocumentMutation(.variablesInAllowedPosition) { editor, _ in
      editor.editOperation { operation, random in
        guard !operation.variableDefinitions.isEmpty else { return }
        let index = Int.random(in: 0..<operation.variableDefinitions.count, using: &random)
        let type = operation.variableDefinitions[index].type
        let changes: [TypeReference] = [
          type.nullable, .list(type), type.item ?? .named("Int"), .nonNull(.named("String")),
          .nonNull(type.nullable),
        ]
        operation.variableDefinitions[index].type = changes.randomElement(using: &random) ?? type
      }
    },
    DocumentMutation(.variablesInAllowedPosition) { editor, _ in
      let types = editor.document.operations.flatMap(\.variableDefinitions).map(\.name.value)
      editor.editValue { value, random in
        guard let name = types.randomElement(using: &random) else { return }
        value.kind = .variable(name)
      }
    },
    DocumentMutation(.variablesInAllowedPosition) { editor, _ in
      editor.editOperation { operation, _ in
        for index in operation.variableDefinitions.indices {
          operation.variableDefinitions[index].type =
            operation.variableDefinitions[index].type.nullable
          operation.variableDefinitions[index].defaultValue =
            index.isMultiple(of: 2) ? Value(.null) : nil
        }
      }
    },
  ]

  private static let fields: [DocumentMutation] = [
    DocumentMutation(.scalarLeafs) { editor, _ in
      editor.editField(where: \.hasSelections) { field, _ in field.selectionSet = nil }
    },
    DocumentMutation(.scalarLeafs) { editor, _ in
      editor.editField { field, _ in
        field.selectionSet = field.selectionSet ?? SelectionSet([typename])
      }
    },
    DocumentMutation(.fieldsOnCorrectType) { editor, _ in
      editor.editField { field, _ in field.name.value += "x" }
    },
    DocumentMutation(.fieldsOnCorrectType) { editor, schema in
      let names = schema.types.flatMap(\.fields.names)
      editor.editField { field, random in
        field.name.value = names.randomElement(using: &random) ?? "x"
      }
    },
    DocumentMutation(.knownDirectives) { editor, schema in
      let names = schema.directives.names + ["unknown"]
      editor.editField { field, random in
        field.directives.append(Directive(name: Name(names.randomElement(using: &random) ?? "x")))
      }
    },
    DocumentMutation(.knownDirectives) { editor, schema in
      let names = schema.directives.names + ["unknown"]
      editor.editOperation { operation, random in
        let directive = Directive(name: Name(names.randomElement(using: &random) ?? "x"))
        operation.directives.append(directive)
        if !operation.variableDefinitions.isEmpty {
          operation.variableDefinitions[0].directives.append(directive)
        }
      }
    },
    DocumentMutation(.uniqueDirectivesPerLocation) { editor, schema in
      let names = schema.directives.names
      editor.editField { field, random in
        let argument = Argument(name: Name("if"), value: Value(.boolean(true)))
        let name = Bool.random(using: &random) ? "skip" : names.randomElement(using: &random)
        let directive = Directive(name: Name(name ?? "skip"), arguments: [argument])
        field.directives += [directive, directive]
      }
    },
    DocumentMutation(.overlappingFieldsCanBeMerged) { editor, _ in
      editor.visitFields { field in field.alias = nil }
    },
    DocumentMutation(.overlappingFieldsCanBeMerged) { editor, _ in
      editor.editSelectionSet { set, random in
        let keys = set.selections.compactMap { selection in
          if case .field(let field) = selection { field.responseKey } else { nil }
        }
        for index in set.selections.indices {
          guard case .field(var field) = set.selections[index],
            let key = keys.randomElement(using: &random)
          else { continue }
          field.alias = Name(key)
          set.selections[index] = .field(field)
        }
      }
    },
    DocumentMutation(.overlappingFieldsCanBeMerged) { editor, _ in
      // The same aliases in two copies of a field: equal, or different further down.
      editor.editSelectionSet { set, random in
        guard case .field(var twin)? = set.selections.randomElement(using: &random) else { return }
        if var inner = twin.selectionSet, case .field(var field) = inner.selections[0] {
          field.name = Name(Bool.random(using: &random) ? "__typename" : field.name.value)
          field.arguments = Bool.random(using: &random) ? [] : field.arguments
          inner.selections[0] = .field(field)
          twin.selectionSet = inner
        }
        set.selections.append(
          .inlineFragment(InlineFragment(selectionSet: SelectionSet([.field(twin)]))))
      }
    },
  ]

  private static let arguments: [DocumentMutation] = [
    DocumentMutation(.knownArgumentNames) { editor, _ in
      editor.editField { field, _ in
        field.arguments.append(Argument(name: Name("nonesuch"), value: Value(.int("1"))))
      }
    },
    DocumentMutation(.knownArgumentNames) { editor, _ in
      editor.editField { field, _ in
        let argument = Argument(name: Name("iff"), value: Value(.boolean(true)))
        field.directives.append(Directive(name: Name("include"), arguments: [argument]))
      }
    },
    DocumentMutation(.uniqueArgumentNames) { editor, _ in
      editor.editArguments { arguments, _ in arguments.append(arguments[0]) }
    },
    DocumentMutation(.uniqueArgumentNames) { editor, _ in
      editor.editField { field, _ in
        let argument = Argument(name: Name("if"), value: Value(.boolean(true)))
        field.directives.append(Directive(name: Name("skip"), arguments: [argument, argument]))
      }
    },
    DocumentMutation(.valuesOfCorrectType) { editor, _ in
      editor.editValue { value, random in
        let kinds: [Value.Kind] = [
          .null, .int("3"), .int("2147483648"), .int("-2147483648"), .float("1.5"),
          .string("text", isBlock: false), .boolean(true), .enum("DRAMA"), .enum("ASCC"),
          .list([]), .list([Value(.int("1")), Value(.null)]), .list([Value(.list([value]))]),
          .object([]), .object([ObjectField(name: Name("zzz"), value: value)]),
          .object([ObjectField(name: Name("min"), value: Value(.string("x", isBlock: true)))]),
        ]
        value.kind = kinds.randomElement(using: &random) ?? .null
      }
    },
    DocumentMutation(.valuesOfCorrectType) { editor, _ in
      editor.editOperation { operation, _ in
        for index in operation.variableDefinitions.indices {
          operation.variableDefinitions[index].defaultValue = Value(.int("5"))
        }
      }
    },
    DocumentMutation(.providedRequiredArguments) { editor, _ in
      editor.editArguments { arguments, random in
        arguments.remove(at: Int.random(in: 0..<arguments.count, using: &random))
      }
    },
    DocumentMutation(.providedRequiredArguments) { editor, _ in
      editor.editField { field, _ in field.directives.append(Directive(name: Name("include"))) }
    },
    DocumentMutation(.uniqueInputFieldNames) { editor, _ in
      editor.editField(where: \.hasObjectArgument) { field, _ in
        for index in field.arguments.indices {
          guard case .object(let fields) = field.arguments[index].value.kind else { continue }
          field.arguments[index].value.kind = .object(fields + fields.prefix(1))
        }
      }
    },
    DocumentMutation(.uniqueInputFieldNames) { editor, _ in
      editor.editValue { value, _ in
        let field = ObjectField(name: Name("a"), value: value)
        value.kind = .list([Value(.object([field, field]))])
      }
    },
  ]
}
