import LosslessJSON

/// One run of an `InputCoercer`, with the faults it has met. A method that reports a fault gives
/// nothing, and its caller goes on with the next value.
struct Coercion {
  let schema: Schema
  let variables: [String: JSONValue]
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

  mutating func knownType(_ type: TypeReference, at path: InputPath) -> NamedType? {
    if let named = schema.type(of: type), named.isInput { return named }
    report(path, "Type \"\(type)\" is no input type of the schema.")
    return nil
  }

  mutating func reportNull(_ type: TypeReference, at path: InputPath) {
    report(path, "Expected a value of non-null type \"\(type)\", not null.")
  }
}

extension Coercion {
  mutating func defaultMember(_ definition: InputValue, at path: InputPath) -> JSONMember? {
    if let defaultValue = definition.defaultValue {
      return literal(defaultValue, as: definition.type, at: path)
        .map { JSONMember(definition.name, $0) }
    }
    if definition.type.isNonNull {
      report(path, "A value of type \"\(definition.type)\" is required.")
    }
    return nil
  }

  mutating func take(
    _ result: Result<JSONValue, BuiltInScalar.Problem>, at path: InputPath
  ) -> JSONValue? {
    switch result {
    case .success(let value): return value
    case .failure(let problem):
      report(path, problem.message + ".")
      return nil
    }
  }

  mutating func enumValue(
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

  mutating func reportUnknownField(
    _ name: String, of type: NamedType, at path: InputPath
  ) {
    let hint = NearestNames.didYouMean(name, among: type.inputFields.names)
    report(path, "Type \"\(type.name)\" has no such field.\(hint)")
  }

  mutating func checkOneOf(
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
