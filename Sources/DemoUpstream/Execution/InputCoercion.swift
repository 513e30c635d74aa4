import GraphQL
import LosslessJSON

/// Turns literals and the JSON of variables into the values that resolvers see (specification 3, 6.1.2 and
/// 6.4.1).
struct InputCoercion {
  let schema: Schema
  /// Coerced variables; one that is absent and has no default is not in it.
  private(set) var variables: [String: JSONValue] = [:]

  init(schema: Schema) {
    self.schema = schema
  }

  /// Sets the variables of an operation. Returns an error for each that is not of its type.
  mutating func setVariables(
    _ definitions: [VariableDefinition], given: JSONValue
  ) -> [JSONValue] {
    definitions.compactMap { definition in
      let name = definition.name.value
      let given = given[name]
      do throws(Mismatch) {
        if let value = given ?? definition.defaultValue.flatMap(json) {
          variables[name] = try self.value(value, as: definition.type)
        } else if definition.type.isNonNull {
          throw Mismatch(
            kind: .other("a value of type \(definition.type) is required"))
        }
        return nil
      } catch {
        let isDefault = given == nil && definition.defaultValue != nil
        return .error(
          isDefault
            ? "The default of variable \"$\(name)\" does not fit its type."
            : error.message(inVariable: name),
          at: [definition.location.position].compactMap { $0 },
          extensions: [JSONMember("code", "BAD_USER_INPUT")])
      }
    }
  }

  /// The arguments of a field: an object of the given ones and the defaults of the others.
  func arguments(
    _ given: [Argument], of definitions: NamedList<InputValue>
  ) -> Result<JSONValue, FieldFailure> {
    do throws(Mismatch) {
      return .success(
        try members(definitions) { name in
          given.first { $0.name.value == name }.flatMap { json($0.value) }
        })
    } catch {
      return .failure(FieldFailure(error.messageInArguments))
    }
  }

  /// A literal as JSON, whatever its type; nil for a variable that is absent.
  func json(_ literal: Value) -> JSONValue? {
    switch literal.kind {
    case .variable(let name): variables[name]
    case .null: .null
    case .int(let digits), .float(let digits): JSONNumber(digits: digits).map(JSONValue.number)
    case .string(let text, _), .enum(let text): .string(text)
    case .boolean(let flag): .bool(flag)
    case .list(let items): .array(items.map { json($0) ?? .null })
    case .object(let fields):
      .object(
        fields.compactMap { field in
          json(field.value).map { JSONMember(field.name.value, $0) }
        })
    }
  }

  // MARK: Values of a type

  private func members(
    _ definitions: NamedList<InputValue>, given: (_ name: String) -> JSONValue?
  ) throws(Mismatch) -> JSONValue {
    var members: [JSONMember] = []
    for definition in definitions {
      do throws(Mismatch) {
        if let value = given(definition.name) ?? definition.defaultValue.flatMap(json) {
          members.append(JSONMember(definition.name, try self.value(value, as: definition.type)))
        } else if definition.type.isNonNull {
          throw Mismatch(kind: .missing(definition.type))
        }
      } catch {
        throw error.under(.string(definition.name))
      }
    }
    return .object(members)
  }

  private func value(_ json: JSONValue, as type: TypeReference) throws(Mismatch) -> JSONValue {
    if json.isNull {
      guard !type.isNonNull else { throw Mismatch(kind: .null(type)) }
      return .null
    }
    if let item = type.item {
      // A single value counts as a list of one.
      guard let elements = json.array else { return .array([try value(json, as: item)]) }
      var values: [JSONValue] = []
      for (place, element) in elements.enumerated() {
        do throws(Mismatch) {
          values.append(try value(element, as: item))
        } catch {
          throw error.under(.int(place))
        }
      }
      return .array(values)
    }
    guard let named = schema.type(of: type) else {
      throw Mismatch(kind: .other("the type \(type) does not exist"))
    }
    if named.kind == .inputObject { return try object(json, as: named) }
    guard let leaf = Self.leaf(json, as: named) else {
      throw Mismatch(kind: .other("\(json.text) is not a valid \(named.name)"))
    }
    return leaf
  }

  private func object(_ json: JSONValue, as type: NamedType) throws(Mismatch) -> JSONValue {
    guard let given = json.members else {
      throw Mismatch(kind: .other("\(type.name) must be an object"))
    }
    if let unknown = given.first(where: { type.inputFields[$0.name] == nil }) {
      throw Mismatch(kind: .other("\(type.name) has no field \(unknown.name)"))
    }
    if type.isOneOf, given.count != 1 || given[0].value.isNull {
      throw Mismatch(kind: .other("\(type.name) must have exactly one field"))
    }
    return try members(type.inputFields) { json[$0] }
  }

  /// The value; nil if the JSON is not a value of the scalar or enum type. Custom scalars accept any.
  private static func leaf(_ json: JSONValue, as type: NamedType) -> JSONValue? {
    switch (type.name, json) {
    // A whole number of 32 bits, also where it is written as `2e1` or `3.0`.
    case ("Int", .number(let number)):
      number.double.flatMap { Int32(exactly: $0) }.map(JSONValue.int)
    case ("ID", .number(let number)):
      number.digits.utf8.contains { ".eE".utf8.contains($0) } ? nil : .string(number.digits)
    case ("Float", .number), ("String", .string), ("Boolean", .bool), ("ID", .string): json
    case ("Int", _), ("Float", _), ("String", _), ("Boolean", _), ("ID", _): nil
    default: type.kind != .enum || json.string.map { type.values[$0] != nil } ?? false ? json : nil
    }
  }
}

/// Why a value is not of its type.
private struct Mismatch: Error {
  enum Kind {
    /// Null where the type does not allow it.
    case null(TypeReference)
    case missing(TypeReference)
    case other(String)
  }

  let kind: Kind
  /// Names of fields and indexes, from the variable or the field's arguments to the value.
  var path: [JSONValue] = []

  func under(_ step: JSONValue) -> Mismatch { Mismatch(kind: kind, path: [step] + path) }

  func message(inVariable name: String) -> String {
    let place = path.map { $0.string.map { ".\($0)" } ?? "[\($0.text)]" }.joined()
    let problem =
      switch kind {
      case .null(let type): "\(type) must not be null"
      case .missing(let type): "a \(type) is required"
      case .other(let problem): problem
      }
    return "Variable \"$\(name)\(place)\": \(problem)."
  }

  /// Validation has found all else: what is left depends on variables.
  var messageInArguments: String {
    let name = path.last?.string
    let subject = "\(path.count == 1 ? "Argument" : "Field") \"\(name ?? "")\""
    return switch kind {
    case .null(let item) where name == nil: "A list of \(item) must not contain null."
    case .null: "\(subject) must not be null."
    case .missing(let type): "\(subject) of type \(type) is missing."
    case .other(let problem): "\(subject): \(problem)."
    }
  }
}
