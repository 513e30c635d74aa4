import GraphQL
import TestSupport

extension DocumentMutation {
  static let variables: [DocumentMutation] = [
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
}
