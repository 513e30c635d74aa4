import LosslessJSON

/// Values that come as JSON: variables.
extension Coercion {
  mutating func variable(_ definition: VariableDefinition, given: JSONValue?) -> JSONMember? {
    let path = InputPath.variable(definition.name.value)
    let value: JSONValue?
    if let given {
      value = json(given, as: definition.type, at: path)
    } else if let defaultValue = definition.defaultValue {
      value = literal(defaultValue, as: definition.type, at: path)
    } else {
      if definition.type.isNonNull {
        report(path, "A value of type \"\(definition.type)\" is required.")
      }
      value = nil
    }
    return value.map { JSONMember(definition.name.value, $0) }
  }

  mutating func json(
    _ value: JSONValue, as type: TypeReference, at path: InputPath
  ) -> JSONValue? {
    if value.isNull {
      if type.isNonNull {
        reportNull(type, at: path)
        return nil
      }
      return .null
    }
    if let item = type.item {
      guard let items = value.array else {
        return json(value, as: item, at: path).map { .array([$0]) }
      }
      return .array(
        items.enumerated().compactMap { index, element in
          json(element, as: item, at: path.appending(.index(index)))
        })
    }
    guard let named = knownType(type, at: path) else { return nil }
    switch named.kind {
    case .inputObject: return object(value, as: named, at: path)
    case .enum: return enumValue(value.string, text: value.text, as: named, at: path)
    case .scalar, .object, .interface, .union:
      guard let scalar = BuiltInScalar(rawValue: named.name) else { return value }
      return take(scalar.coerce(value), at: path)
    }
  }

  private mutating func object(
    _ value: JSONValue, as type: NamedType, at path: InputPath
  ) -> JSONValue? {
    guard let members = value.members else {
      report(path, "Expected an object of type \"\(type.name)\", found \(value.text).")
      return nil
    }
    var seen = Set<String>()
    for member in members {
      let place = path.appending(.field(member.name))
      if type.inputFields[member.name] == nil {
        reportUnknownField(member.name, of: type, at: place)
      } else if !seen.insert(member.name).inserted {
        report(place, "The field is given twice.")
      }
    }
    let coerced = type.inputFields.compactMap { field -> JSONMember? in
      let place = path.appending(.field(field.name))
      guard let given = value[field.name] else { return defaultMember(field, at: place) }
      return json(given, as: field.type, at: place).map { JSONMember(field.name, $0) }
    }
    checkOneOf(type, names: members.map(\.name), coerced: coerced, at: path)
    return .object(coerced)
  }
}
