import GraphQL
import LosslessJSON
import Model

/// Tells which page of a list a field asks for, by the argument names in common use: Relay's
/// connections, offset and limit, page numbers, and continuation tokens.
struct PagingRule: Sendable {
  /// Where a page begins. A field that declares none of them is not paged.
  private static let places: Set<String> = [
    "after", "before", "offset", "skip", "nextToken", "page",
  ]
  /// How long a page is, and from which end.
  private static let sizes: Set<String> = [
    "first", "last", "limit", "take", "pageSize", "perPage",
  ]

  private init() {}

  /// The rule, if the field is a list or connection that upstream gives in pages.
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
