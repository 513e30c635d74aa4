import GraphQL
import LosslessJSON

/// The input types of a schema, resolved once.
struct InputTypes {
  private let schema: Schema
  private let scalarNumbers: [String: RegistrySettings.ScalarNumber]
  private(set) var objects: InputObjectTypes = [:]

  init(schema: Schema, scalarNumbers: [String: RegistrySettings.ScalarNumber]) {
    self.schema = schema
    self.scalarNumbers = scalarNumbers
    // Fields first: a default's literal may be read by a type that is declared later.
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

  /// A type that the schema does not know reads as a custom scalar; validation reports it.
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
