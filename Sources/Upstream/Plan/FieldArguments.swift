import GraphQL
import LosslessJSON
import Model

/// The arguments of one selected field: what names it in the store, and which page it is.
struct FieldArguments: Sendable {
  /// Sorted by name (UTF-8 order); an argument that is neither given nor has a default is left out.
  let arguments: [ArgumentTemplate.Member]

  init(of field: Field, declared: NamedList<InputValue>, literals: LiteralReader) {
    var arguments: [ArgumentTemplate.Member] = []
    for input in declared {
      let type = literals.types.type(of: input.type)
      let fallback = input.defaultValue.flatMap {
        literals.template($0, as: type).constantValue
      }
      if let given = field.arguments.first(where: { $0.name.value == input.name }) {
        let value = literals.template(given.value, as: type, fallback: fallback)
        arguments.append(ArgumentTemplate.Member(name: input.name, value: value))
      } else if let fallback {
        arguments.append(ArgumentTemplate.Member(name: input.name, value: .constant(fallback)))
      }
    }
    self.arguments = arguments.sorted {
      $0.name.utf8.lexicographicallyPrecedes($1.name.utf8)
    }
  }

  var dependsOnVariables: Bool { arguments.contains(where: \.value.dependsOnVariables) }

  /// The arguments of a call, those left out that are absent.
  func resolve(_ variables: Variables) -> [JSONMember] {
    arguments.compactMap { argument in
      argument.value.resolve(variables).map { JSONMember(argument.name, $0) }
    }
  }

  /// Arguments as canonical JSON; nil where there are none.
  static func canonical(_ members: [JSONMember]) -> String? {
    members.isEmpty ? nil : JSONValue.object(members).canonicalText
  }
}
