import GraphQL
import LosslessJSON

/// Turns the JSON of a request's variables into values of their declared types (specification
/// 6.1.2), finding all faults at once.
struct VariableCoercion {
  private let schema: Schema
  private let literals: InputCoercion
  private(set) var errors: [ExecutionError] = []
  /// Coerced variables; one that is absent and has no default is not in it.
  private(set) var values: [String: JSONValue] = [:]

  init(
    _ definitions: [VariableDefinition], given: JSONValue, schema: Schema
  ) {
    self.schema = schema
    literals = InputCoercion(schema: schema, variables: [:])
    for definition in definitions { coerce(definition, given: given[definition.name.value]) }
  }

  private struct Mismatch: Error {
    let message: String
    var path = ""

    func under(_ step: String) -> Mismatch { Mismatch(message: message, path: step + path) }
  }

  private mutating func coerce(_ definition: VariableDefinition, given: JSONValue?) {
    let name = definition.name.value
    do {
      if let given {
        values[name] = try value(given, as: definition.type)
      } else if let initial = definition.defaultValue {
        values[name] = try literals.constant(initial, as: definition.type)
      } else if definition.type.isNonNull {
        throw Mismatch(message: "a value of type \(definition.type) is required")
      }
    } catch let mismatch as Mismatch {
      note("Variable \"$\(name)\(mismatch.path)\": \(mismatch.message).", at: definition)
    } catch {
      note("The default of variable \"$\(name)\" does not fit its type.", at: definition)
    }
  }

  private mutating func note(_ message: String, at definition: VariableDefinition) {
    errors.append(
      ExecutionError(
        message, positions: [definition.location.position].compactMap { $0 },
        extensions: [JSONMember("code", "BAD_USER_INPUT")]))
  }

  private func value(_ json: JSONValue, as type: TypeReference) throws(Mismatch) -> JSONValue {
    if json.isNull {
      guard !type.isNonNull else { throw Mismatch(message: "\(type) must not be null") }
      return .null
    }
    if let item = type.item {
      guard let elements = json.array else { return .array([try value(json, as: item)]) }
      var values: [JSONValue] = []
      for (place, element) in elements.enumerated() {
        do throws(Mismatch) {
          values.append(try value(element, as: item))
        } catch {
          throw error.under("[\(place)]")
        }
      }
      return .array(values)
    }
    guard let named = schema.type(of: type) else {
      throw Mismatch(message: "the type \(type) does not exist")
    }
    if named.kind == .inputObject { return try object(json, as: named) }
    guard let leaf = Self.leaf(json, as: named) else {
      throw Mismatch(message: "\(json.text) is not a valid \(named.name)")
    }
    return leaf
  }

  private func object(_ json: JSONValue, as type: NamedType) throws(Mismatch) -> JSONValue {
    guard let given = json.members else {
      throw Mismatch(message: "\(type.name) must be an object")
    }
    if let stranger = given.first(where: { type.inputFields[$0.name] == nil }) {
      throw Mismatch(message: "\(type.name) has no field \(stranger.name)")
    }
    if type.isOneOf, given.count != 1 || given[0].value.isNull {
      throw Mismatch(message: "\(type.name) must have exactly one field")
    }
    var members: [JSONMember] = []
    for field in type.inputFields {
      do throws(Mismatch) {
        if let value = try member(json[field.name], of: field) {
          members.append(JSONMember(field.name, value))
        }
      } catch {
        throw error.under(".\(field.name)")
      }
    }
    return .object(members)
  }

  private func member(
    _ given: JSONValue?, of field: InputValue
  ) throws(Mismatch) -> JSONValue? {
    if let given { return try value(given, as: field.type) }
    if let initial = field.defaultValue { return try? literals.constant(initial, as: field.type) }
    if field.type.isNonNull { throw Mismatch(message: "a \(field.type) is required") }
    return nil
  }

  /// The value; nil if the JSON is not a value of the scalar or enum type. Custom scalars accept any.
  private static func leaf(_ json: JSONValue, as type: NamedType) -> JSONValue? {
    let isGood =
      switch type.name {
      case "Int": whole(json) != nil
      case "Float": json.number != nil
      case "String": json.string != nil
      case "Boolean": json.bool != nil
      case "ID": json.string != nil || json.number.map { isWhole($0.digits) } ?? false
      default: type.kind != .enum || json.string.map { type.values[$0] != nil } ?? false
      }
    guard isGood else { return nil }
    if type.name == "Int", let whole = whole(json) { return .number(JSONNumber(whole)) }
    if type.name == "ID", let number = json.number { return .string(number.digits) }
    return json
  }

  /// A whole number of 32 bits, also where it is written as `2e1` or `3.0`.
  private static func whole(_ json: JSONValue) -> Int32? {
    json.number?.double.flatMap { Int32(exactly: $0) }
  }

  private static func isWhole(_ digits: String) -> Bool {
    digits.utf8.allSatisfy { $0 == UInt8(ascii: "-") || ($0 >= 0x30 && $0 <= 0x39) }
  }
}
