import LosslessJSON

/// One run of an `InputCoercer`, with the faults it has met. A method that reports a fault gives
/// nothing, and its caller goes on with the next value.
struct Coercion {
  let schema: Schema
  private let variables: [String: JSONValue]
  private var faults: [InputFault] = []

  init(schema: Schema, variables: [JSONMember] = []) {
    self.schema = schema
    self.variables = Dictionary(
      variables.map { ($0.name, $0.value) }, uniquingKeysWith: { first, _ in first })
  }

  mutating func report(_ path: InputPath, _ message: String) {
    faults.append(InputFault(path, message))
  }

  func finish() throws(InputFaults) {
    if !faults.isEmpty { throw InputFaults(faults) }
  }

  private mutating func knownType(_ type: TypeReference, at path: InputPath) -> NamedType? {
    if let named = schema.type(of: type), named.isInput { return named }
    report(path, "Type \"\(type)\" is no input type of the schema.")
    return nil
  }

  private mutating func reportNull(_ type: TypeReference, at path: InputPath) {
    report(path, "Expected a value of non-null type \"\(type)\", not null.")
  }
}

// JSON values.
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

// Literals.
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

// What both have in common.
extension Coercion {
  private mutating func defaultMember(_ definition: InputValue, at path: InputPath) -> JSONMember? {
    if let defaultValue = definition.defaultValue {
      return literal(defaultValue, as: definition.type, at: path)
        .map { JSONMember(definition.name, $0) }
    }
    if definition.type.isNonNull {
      report(path, "A value of type \"\(definition.type)\" is required.")
    }
    return nil
  }

  private mutating func take(
    _ result: Result<JSONValue, BuiltInScalar.Problem>, at path: InputPath
  ) -> JSONValue? {
    switch result {
    case .success(let value): return value
    case .failure(let problem):
      report(path, problem.message + ".")
      return nil
    }
  }

  private mutating func enumValue(
    _ name: String?, text: String, as type: NamedType, at path: InputPath
  ) -> JSONValue? {
    guard let name else {
      report(path, "Enum \"\(type.name)\" cannot represent non-enum value: \(text).")
      return nil
    }
    guard type.values[name] != nil else {
      let hint = NearestNames.didYouMean(name, among: type.values.names)
      report(path, "Value \"\(name)\" does not exist in \"\(type.name)\" enum.\(hint)")
      return nil
    }
    return .string(name)
  }

  private mutating func reportUnknownField(
    _ name: String, of type: NamedType, at path: InputPath
  ) {
    let hint = NearestNames.didYouMean(name, among: type.inputFields.names)
    report(path, "Type \"\(type.name)\" has no such field.\(hint)")
  }

  private mutating func checkOneOf(
    _ type: NamedType, names: [String], coerced: [JSONMember], at path: InputPath
  ) {
    guard type.isOneOf else { return }
    if names.count != 1 {
      report(path, "Type \"\(type.name)\" takes exactly one of its fields.")
    } else if coerced.first?.value.isNull == true {
      report(
        path.appending(.field(names[0])), "The one field of \"\(type.name)\" must not be null.")
    }
  }
}
