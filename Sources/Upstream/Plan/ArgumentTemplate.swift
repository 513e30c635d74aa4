import GraphQL
import LosslessJSON
import Model

/// An argument's value in an operation, with places for a call's variables.
indirect enum ArgumentTemplate: Sendable {
  case constant(JSONValue)
  /// A variable; if absent, the default applies, and without one the argument is absent too.
  case variable(String, fallback: JSONValue?)
  case list([ArgumentTemplate])
  case object([Member])

  struct Member: Sendable {
    let name: String
    let value: ArgumentTemplate
  }

  var dependsOnVariables: Bool {
    switch self {
    case .constant: false
    case .variable: true
    case .list(let items): items.contains(where: \.dependsOnVariables)
    case .object(let fields): fields.contains(where: \.value.dependsOnVariables)
    }
  }

  /// The value with a call's variables; nil if it is absent.
  func resolve(_ variables: Variables) -> JSONValue? {
    switch self {
    case .constant(let value): value
    case .variable(let name, let fallback): variables.values[name] ?? fallback
    case .list(let items): .array(items.map { $0.resolve(variables) ?? .null })
    case .object(let fields):
      .object(
        fields.compactMap { field in
          field.value.resolve(variables).map { JSONMember(field.name, $0) }
        })
    }
  }

  /// The value, if it does not depend on variables.
  var constantValue: JSONValue? {
    dependsOnVariables ? nil : resolve(.none)
  }
}

/// Converts literals of a document to templates, by their expected type.
struct LiteralReader {
  let types: InputTypes

  /// - Parameter fallback: the default if `value` is an absent variable.
  func template(
    _ value: GraphQL.Value, as type: InputType, fallback: JSONValue? = nil
  ) -> ArgumentTemplate {
    switch (value.kind, type.nullable) {
    case (.variable(let name), _): return .variable(name, fallback: fallback)
    case (.null, _): return .constant(.null)
    case (.list(let items), .list(let item)):
      return collapsed(.list(items.map { template($0, as: item) }))
    case (_, .list(let item)):
      return collapsed(.list([template(value, as: item)]))
    case (.object(let fields), .object(let name)):
      return object(fields, as: types.objects[name])
    default:
      return .constant(Self.json(value, as: type.nullable))
    }
  }

  private func object(
    _ fields: [ObjectField], as object: InputObjectType?
  ) -> ArgumentTemplate {
    var templates: [ArgumentTemplate.Member] = []
    for field in fields {
      let declared = object?.field(named: field.name.value)
      let type = declared?.type ?? .scalar(name: "", number: nil)
      let value = template(field.value, as: type, fallback: declared?.defaultValue)
      templates.append(ArgumentTemplate.Member(name: field.name.value, value: value))
    }
    for field in object?.fields ?? [] {
      guard let value = field.defaultValue, !templates.contains(where: { $0.name == field.name })
      else { continue }
      templates.append(ArgumentTemplate.Member(name: field.name, value: .constant(value)))
    }
    return collapsed(.object(templates))
  }

  private func collapsed(_ template: ArgumentTemplate) -> ArgumentTemplate {
    template.constantValue.map(ArgumentTemplate.constant) ?? template
  }

  /// A literal as JSON. Numbers are canonical, an id is a string, an enum value its name.
  private static func json(_ value: GraphQL.Value, as type: InputType) -> JSONValue {
    switch value.kind {
    case .int(let digits), .float(let digits):
      guard type != .id, let number = JSONNumber(digits: digits) else { return .string(digits) }
      if case .scalar(_, number: nil) = type { return .number(number) }
      return .number(CanonicalNumber.of(number))
    case .string(let text, _): return .string(text)
    case .enum(let name): return .string(name)
    case .boolean(let flag): return .bool(flag)
    case .null, .variable: return .null
    case .list(let items): return .array(items.map { json($0, as: type) })
    case .object(let fields):
      return .object(fields.map { JSONMember($0.name.value, json($0.value, as: type)) })
    }
  }
}
