import GraphQL
import LosslessJSON
import Model

extension InputType {
  /// A description of the type, to follow "must be".
  var phrase: String {
    switch self {
    case .nonNull(let inner): "\(inner.phrase), and not null"
    case .list(let item): "a list, each element \(item.phrase)"
    case .int: "a 32-bit integer"
    case .float: "a number"
    case .string: "a string"
    case .boolean: "true or false"
    case .id: "an id (a string or an integer)"
    case .enumeration(let name, _): "a value of \(name)"
    case .object(let name): "an object of type \(name)"
    case .scalar(let name, number: nil): "a value of \(name)"
    case .scalar(_, number: .integer): "an integer"
    case .scalar(_, number: .real): "a number"
    }
  }
}

/// An input object type: its fields in declared order.
struct InputObjectType: Sendable {
  struct Field: Sendable {
    let name: String
    let type: InputType
    let defaultValue: JSONValue?

    var isRequired: Bool { type.isNonNull && defaultValue == nil }
  }

  let name: String
  let fields: [Field]
  /// Whether exactly one field must be given, and not as null.
  let isOneOf: Bool

  func field(named name: String) -> Field? { fields.first { $0.name == name } }
}

/// All input object types of a schema, by name.
typealias InputObjectTypes = [String: InputObjectType]

/// The input types of a schema, resolved once.
struct InputTypes {
  private let schema: Schema
  private let scalarNumbers: [String: ScalarNumber]
  private(set) var objects: InputObjectTypes = [:]

  init(schema: Schema, scalarNumbers: [String: ScalarNumber]) {
    self.schema = schema
    self.scalarNumbers = scalarNumbers
    // Fields first: a default's literal can have a type that is declared later.
    for type in schema.types where type.kind == .inputObject {
      objects[type.name] = InputObjectType(
        name: type.name,
        fields: type.inputFields.map {
          InputObjectType.Field(name: $0.name, type: self.type(of: $0.type), defaultValue: nil)
        },
        isOneOf: type.isOneOf)
    }
    let withoutDefaults = LiteralReader(types: self)
    for type in schema.types where type.kind == .inputObject {
      objects[type.name] = InputObjectType(
        name: type.name,
        fields: type.inputFields.map { field in
          let inputType = self.type(of: field.type)
          let value = field.defaultValue.flatMap {
            withoutDefaults.template($0, as: inputType).constantValue
          }
          return InputObjectType.Field(name: field.name, type: inputType, defaultValue: value)
        },
        isOneOf: type.isOneOf)
    }
  }

  /// Resolves a type. One that the schema does not know reads as a custom scalar; validation
  /// reports it.
  func type(of reference: TypeReference) -> InputType {
    switch reference {
    case .nonNull(let inner, _): .nonNull(type(of: inner))
    case .list(let item, _): .list(type(of: item))
    case .named(let name): named(name.value)
    }
  }

  private func named(_ name: String) -> InputType {
    switch name {
    case "Int": return .int
    case "Float": return .float
    case "String": return .string
    case "Boolean": return .boolean
    case "ID": return .id
    default: break
    }
    guard let type = schema.type(named: name) else { return .scalar(name: name, number: nil) }
    switch type.kind {
    case .enum: return .enumeration(name: name, values: type.values.names)
    case .inputObject: return .object(name: name)
    case .scalar, .object, .interface, .union:
      return .scalar(name: name, number: scalarNumbers[name])
    }
  }
}
