import LosslessJSON

/// Values that stand in a document: arguments and defaults.
extension Coercion {
  mutating func literal(
    _ value: Value, as type: TypeReference, at path: InputPath
  ) -> JSONValue? {
    switch value.kind {
    case .variable(let name):
      guard let given = variables[name] else {
        if type.isNonNull { report(path, "Variable \"$\(name)\" was not given a value.") }
        return nil
      }
      if given.isNull, type.isNonNull {
        reportNull(type, at: path)
        return nil
      }
      return given
    case .null:
      if type.isNonNull {
        reportNull(type, at: path)
        return nil
      }
      return .null
    default:
      break
    }
    if let item = type.item {
      guard case .list(let items) = value.kind else {
        return literal(value, as: item, at: path).map { .array([$0]) }
      }
      return .array(
        items.enumerated().compactMap { index, element in
          let place = path.appending(.index(index))
          // A missing variable in a list counts as null (specification 3.11).
          if isMissing(element), !item.isNonNull { return .null }
          return literal(element, as: item, at: place)
        })
    }
    guard let named = knownType(type, at: path) else { return nil }
    return literal(value, as: named, at: path)
  }

  private mutating func literal(
    _ value: Value, as type: NamedType, at path: InputPath
  ) -> JSONValue? {
    switch type.kind {
    case .inputObject: return object(value, as: type, at: path)
    case .enum:
      let name: String? = if case .enum(let name) = value.kind { name } else { nil }
      return enumValue(name, text: Printer.print(value), as: type, at: path)
    case .scalar, .object, .interface, .union:
      guard let scalar = BuiltInScalar(rawValue: type.name) else { return untyped(value) }
      return take(scalar.coerce(value), at: path)
    }
  }

  private mutating func object(
    _ value: Value, as type: NamedType, at path: InputPath
  ) -> JSONValue? {
    guard case .object(let fields) = value.kind else {
      report(
        path, "Expected an object of type \"\(type.name)\", found \(Printer.print(value)).")
      return nil
    }
    for field in fields where type.inputFields[field.name.value] == nil {
      reportUnknownField(
        field.name.value, of: type, at: path.appending(.field(field.name.value)))
    }
    let coerced = type.inputFields.compactMap { field -> JSONMember? in
      let given = fields.first { $0.name.value == field.name }?.value
      return member(field, literal: given, at: path.appending(.field(field.name)))
    }
    let names = fields.filter { !isMissing($0.value) }.map(\.name.value)
    checkOneOf(type, names: names, coerced: coerced, at: path)
    return .object(coerced)
  }

  /// An argument or input field from its literal, else its default; absent if it has neither.
  mutating func member(
    _ definition: InputValue, literal value: Value?, at path: InputPath
  ) -> JSONMember? {
    guard let value, !isMissing(value) else { return defaultMember(definition, at: path) }
    return literal(value, as: definition.type, at: path).map { JSONMember(definition.name, $0) }
  }

  /// A custom scalar's literal as the JSON nearest to it.
  private func untyped(_ value: Value) -> JSONValue {
    switch value.kind {
    case .variable(let name): variables[name] ?? .null
    case .int(let digits), .float(let digits):
      JSONNumber(digits: digits).map { .number($0) } ?? .string(digits)
    case .string(let text, _), .enum(let text): .string(text)
    case .boolean(let flag): .bool(flag)
    case .null: .null
    case .list(let items): .array(items.map(untyped))
    case .object(let fields):
      .object(fields.map { JSONMember($0.name.value, untyped($0.value)) })
    }
  }

  private func isMissing(_ value: Value) -> Bool {
    if case .variable(let name) = value.kind { variables[name] == nil } else { false }
  }
}
