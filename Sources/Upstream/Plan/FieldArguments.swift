import GraphQL
import LosslessJSON
import Model

/// The arguments of one selected field, which determine its storage name and its page.
struct FieldArguments: Sendable {
  /// Sorted by name (UTF-8 order); an argument that is neither given nor has a default is omitted.
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

  /// The arguments of a call; absent ones are omitted.
  func resolve(_ variables: Variables) -> [JSONMember] {
    arguments.compactMap { argument in
      argument.value.resolve(variables).map { JSONMember(argument.name, $0) }
    }
  }

  /// Arguments as canonical JSON; nil if there are none.
  static func canonical(_ members: [JSONMember]) -> String? {
    members.isEmpty ? nil : JSONValue.object(members).canonicalText
  }
}

/// Determines the page of a list that a field requests, by common argument names: Relay's
/// connections, offset and limit, page numbers, and continuation tokens.
struct PagingRule: Sendable {
  /// Names of arguments for a page's start. A field without any of them is not paginated.
  private static let places: Set<String> = [
    "after", "before", "offset", "skip", "nextToken", "page",
  ]
  /// Names of arguments for a page's length and end.
  private static let sizes: Set<String> = [
    "first", "last", "limit", "take", "pageSize", "perPage",
  ]

  private init() {}

  /// The rule, if the field is a paginated list or connection.
  static func of(_ field: SchemaField, schema: Schema) -> PagingRule? {
    guard field.arguments.contains(where: { places.contains($0.name) }) else { return nil }
    if field.type.item != nil { return PagingRule() }
    guard let type = schema.type(of: field.type) else { return nil }
    // A connection: an object around the list itself.
    return type.fields.contains { $0.type.item != nil } ? PagingRule() : nil
  }

  func page(of field: String, arguments: [JSONMember]) -> SelectedField.Page {
    let others = arguments.filter {
      !Self.places.contains($0.name) && !Self.sizes.contains($0.name)
    }
    let isFirst = arguments.allSatisfy { argument in
      !Self.places.contains(argument.name) || Self.isStart(argument)
    }
    return SelectedField.Page(
      family: StoredForm.storageName(of: field, arguments: FieldArguments.canonical(others)),
      isFirst: isFirst)
  }

  private static func isStart(_ argument: JSONMember) -> Bool {
    switch argument.value {
    case .null: true
    case .string(let text): text.isEmpty
    case .number(let number):
      number.digits == "0" || argument.name == "page" && number.digits == "1"
    case .bool, .array, .object: false
    }
  }
}
