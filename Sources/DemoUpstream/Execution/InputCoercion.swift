import GraphQL
import LosslessJSON

/// Turns argument literals into the values resolvers see (specification 6.4.1 and 3).
///
/// The document has passed validation, so a literal fits its type. This checks conditions that depend on
/// the request: an absent variable, and null for a non-null type.
struct InputCoercion {
  let schema: Schema
  /// The coerced variables, without absent ones.
  let variables: [String: JSONValue]

  func arguments(
    _ given: [Argument], of definitions: NamedList<InputValue>
  ) -> Result<Arguments, FieldFailure> {
    do throws(FieldFailure) {
      var members: [JSONMember] = []
      for definition in definitions {
        let literal = given.first { $0.name.value == definition.name }?.value
        if let value = try member(literal, of: definition, kind: "Argument") {
          members.append(JSONMember(definition.name, value))
        }
      }
      return .success(Arguments(members))
    } catch {
      return .failure(error)
    }
  }

  /// The value of a default in the schema or the operation.
  func constant(_ literal: Value, as type: TypeReference) throws(FieldFailure) -> JSONValue {
    try value(literal, as: type) ?? .null
  }

  /// An argument's or input field's value: the given one, else the default, else nothing.
  private func member(
    _ literal: Value?, of definition: InputValue, kind: String
  ) throws(FieldFailure) -> JSONValue? {
    if let literal, let value = try value(literal, as: definition.type) {
      if value.isNull, definition.type.isNonNull {
        throw FieldFailure("\(kind) \"\(definition.name)\" must not be null.")
      }
      return value
    }
    if let initial = definition.defaultValue { return try value(initial, as: definition.type) }
    if definition.type.isNonNull {
      throw FieldFailure("\(kind) \"\(definition.name)\" of type \(definition.type) is missing.")
    }
    return nil
  }

  /// Nil for a variable that was not given.
  private func value(_ literal: Value, as type: TypeReference) throws(FieldFailure) -> JSONValue? {
    switch literal.kind {
    case .variable(let name): return variables[name]
    case .null: return .null
    default: break
    }
    if let item = type.item { return try list(literal, of: item) }
    guard let named = schema.type(of: type) else {
      throw FieldFailure("The type \(type.name) does not exist.")
    }
    guard case .object(let fields) = literal.kind, named.kind == .inputObject else {
      return Self.scalar(literal, isID: named.name == "ID")
    }
    var members: [JSONMember] = []
    for definition in named.inputFields {
      let given = fields.first { $0.name.value == definition.name }?.value
      if let value = try member(given, of: definition, kind: "Field") {
        members.append(JSONMember(definition.name, value))
      }
    }
    return .object(members)
  }

  /// A single value counts as a list of one.
  private func list(_ literal: Value, of item: TypeReference) throws(FieldFailure) -> JSONValue {
    guard case .list(let literals) = literal.kind else {
      return .array([try value(literal, as: item) ?? .null])
    }
    var elements: [JSONValue] = []
    for literal in literals {
      let element = try value(literal, as: item) ?? .null
      if element.isNull, item.isNonNull {
        throw FieldFailure("A list of \(item) must not contain null.")
      }
      elements.append(element)
    }
    return .array(elements)
  }

  /// A literal of a scalar or enum type. Custom scalars may be any literal.
  private static func scalar(_ literal: Value, isID: Bool) -> JSONValue {
    switch literal.kind {
    case .int(let digits) where isID: .string(digits)
    case .int(let digits), .float(let digits):
      JSONNumber(digits: digits).map(JSONValue.number) ?? .null
    case .string(let text, _), .enum(let text): .string(text)
    case .boolean(let flag): .bool(flag)
    case .list(let items): .array(items.map { scalar($0, isID: false) })
    case .object(let fields):
      .object(fields.map { JSONMember($0.name.value, scalar($0.value, isID: false)) })
    case .null, .variable: .null
    }
  }
}
