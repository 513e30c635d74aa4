import GraphQL
import TestSupport

extension DocumentMutation {
  static let arguments: [DocumentMutation] = [
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
