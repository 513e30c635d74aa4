import GraphQL
import TestSupport

extension DocumentMutation {
  static let fields: [DocumentMutation] = [
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
}
