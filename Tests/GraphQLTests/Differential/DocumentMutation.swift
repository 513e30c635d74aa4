import GraphQL
import TestSupport

/// A change that tends to break the rule it is named after; the reference implementation determines the
/// actual faults.
struct DocumentMutation: Sendable {
  let rule: Rule
  let apply: @Sendable (inout DocumentEditor, Schema) -> Void

  static func mutations(for rule: Rule) -> [DocumentMutation] {
    all.filter { $0.rule == rule }
  }

  init(_ rule: Rule, _ apply: @escaping @Sendable (inout DocumentEditor, Schema) -> Void) {
    self.rule = rule
    self.apply = apply
  }

  static let all: [DocumentMutation] = definitions + fragments + variables + fields + arguments

  static let typename = Selection.field(Field(name: Name("__typename")))

  static func typeNames(_ schema: Schema, _ isWanted: (NamedType) -> Bool) -> [String] {
    schema.types.filter { !$0.name.hasPrefix("__") && isWanted($0) }.map(\.name)
  }
}

extension DocumentMutation {
  static let definitions: [DocumentMutation] = [
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
}
