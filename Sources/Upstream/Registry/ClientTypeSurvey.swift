import GraphQL
import Model

/// The enums, input objects and scalars that a client interface uses, collected while its types are read.
struct ClientTypeSurvey {
  private let schema: Schema
  private var enumNames: Set<String> = []
  private var inputNames: Set<String> = []
  private var scalarNames: Set<String> = []

  init(schema: Schema) {
    self.schema = schema
  }

  /// The type of a leaf.
  mutating func leaf(_ type: NamedType) -> ClientType {
    guard type.kind == .enum else { return scalar(type.name) }
    enumNames.insert(type.name)
    return .enumeration(type.name)
  }

  private mutating func scalar(_ name: String) -> ClientType {
    scalarNames.insert(name)
    return .scalar(name)
  }

  /// The type of a declared field whose innermost type is a leaf or an input object.
  mutating func type(_ reference: TypeReference) -> ClientType {
    switch reference {
    case .nonNull(let inner, _): return .nonNull(type(inner))
    case .list(let item, _): return .list(type(item))
    case .named(let name):
      guard let named = schema.type(named: name.value) else { return scalar(name.value) }
      guard named.kind == .inputObject else { return leaf(named) }
      noteInput(named)
      return .input(named.name)
    }
  }

  /// The type of a variable.
  mutating func type(of input: InputType) -> ClientType {
    switch input {
    case .nonNull(let inner): return .nonNull(type(of: inner))
    case .list(let item): return .list(type(of: item))
    case .int: return .scalar("Int")
    case .float: return .scalar("Float")
    case .string: return .scalar("String")
    case .boolean: return .scalar("Boolean")
    case .id: return .scalar("ID")
    case .scalar(let name, _): return scalar(name)
    case .enumeration(let name, _):
      enumNames.insert(name)
      return .enumeration(name)
    case .object(let name):
      if let named = schema.type(named: name) { noteInput(named) }
      return .input(name)
    }
  }

  /// Notes an input object, and what its fields use.
  private mutating func noteInput(_ type: NamedType) {
    guard inputNames.insert(type.name).inserted else { return }
    for field in type.inputFields { _ = self.type(field.type) }
  }

  var scalars: [String: ClientScalar] {
    let found = scalarNames.compactMap { name -> (String, ClientScalar)? in
      guard let type = schema.type(named: name), type.kind == .scalar else { return nil }
      return (
        name, ClientScalar(description: type.description, specifiedBy: type.specifiedByURL)
      )
    }
    return Dictionary(uniqueKeysWithValues: found)
  }

  var enums: [ClientEnum] {
    enumNames.sorted().compactMap { name in
      schema.type(named: name).map { type in
        ClientEnum(
          name: name, description: type.description,
          values: type.values.map {
            ClientEnum.Value(
              name: $0.name, description: $0.description, deprecation: $0.deprecationReason)
          })
      }
    }
  }

  var inputs: [ClientInput] {
    var reader = self
    return inputNames.sorted().compactMap { name in
      schema.type(named: name).map { type in
        ClientInput(
          name: name, description: type.description,
          fields: type.inputFields.map { field in
            ClientField(
              name: field.name, type: reader.type(field.type),
              isConditional: field.defaultValue != nil, description: field.description,
              deprecation: field.deprecationReason)
          }, isOneOf: type.isOneOf)
      }
    }
  }
}
