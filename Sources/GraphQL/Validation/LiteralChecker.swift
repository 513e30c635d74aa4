/// Checks literals against input types (specification 5.6.1).
struct LiteralChecker {
  let schema: Schema

  /// Returns all faults of the literal; variables inside are not checked.
  func faults(of value: Value, as type: TypeReference) -> [Fault] {
    var faults: [Fault] = []
    check(value, as: type, &faults)
    return faults
  }

  private func check(_ value: Value, as type: TypeReference, _ faults: inout [Fault]) {
    switch value.kind {
    case .variable: return
    case .null:
      if type.isNonNull { faults.append(expected(type, value)) }
    case .list(let items):
      guard let item = type.item else {
        checkLeaf(value, as: type.nullable, &faults)
        return
      }
      for value in items { check(value, as: item, &faults) }
    case .object(let fields):
      guard let object = schema.type(of: type), object.kind == .inputObject else {
        checkLeaf(value, as: type, &faults)
        return
      }
      check(fields, of: object, in: value, &faults)
    case .int, .float, .string, .boolean, .enum:
      checkLeaf(value, as: type, &faults)
    }
  }

  private func check(
    _ fields: [ObjectField], of object: NamedType, in value: Value, _ faults: inout [Fault]
  ) {
    let given = Set(fields.map(\.name.value))
    for field in object.inputFields where field.isRequired && !given.contains(field.name) {
      faults.append(
        fault(
          "Field \"\(object.name).\(field.name)\" of required type \"\(field.type)\" was not "
            + "provided.", value.location))
    }
    if object.isOneOf { checkOneOf(fields, names: given, of: object, in: value, &faults) }
    for field in fields {
      guard let definition = object.inputFields[field.name.value] else {
        let hint = NearestNames.didYouMean(field.name.value, among: object.inputFields.names)
        faults.append(
          fault(
            "Field \"\(field.name)\" is not defined by type \"\(object.name)\".\(hint)",
            field.location))
        continue
      }
      check(field.value, as: definition.type, &faults)
    }
  }

  private func checkOneOf(
    _ fields: [ObjectField], names: Set<String>, of object: NamedType, in value: Value,
    _ faults: inout [Fault]
  ) {
    guard names.count == 1 else {
      faults.append(
        fault(
          "One-of input object \"\(object.name)\" must specify exactly one field.", value.location))
      return
    }
    if let last = fields.last, last.value.kind == .null {
      faults.append(
        fault("Field \"\(object.name).\(last.name)\" must be non-null.", value.location))
    }
  }

  private func checkLeaf(_ value: Value, as type: TypeReference, _ faults: inout [Fault]) {
    guard let named = schema.type(of: type) else { return }
    switch named.kind {
    case .scalar:
      if let problem = BuiltInScalar(rawValue: named.name)?.problem(of: value) {
        faults.append(fault(problem, value.location))
      }
    case .enum:
      checkEnum(value, as: named, &faults)
    case .object, .interface, .union, .inputObject:
      faults.append(expected(type, value))
    }
  }

  private func checkEnum(_ value: Value, as type: NamedType, _ faults: inout [Fault]) {
    guard case .enum(let name) = value.kind else {
      let text = value.stringText ?? ""
      let hint = NearestNames.didYouMean(text, among: type.values.names)
      faults.append(
        fault(
          "Enum \"\(type.name)\" cannot represent non-enum value: \(Printer.print(value)).\(hint)",
          value.location))
      return
    }
    if type.values[name] == nil {
      let hint = NearestNames.didYouMean(name, among: type.values.names)
      faults.append(
        fault("Value \"\(name)\" does not exist in \"\(type.name)\" enum.\(hint)", value.location))
    }
  }

  private func expected(_ type: TypeReference, _ value: Value) -> Fault {
    fault(
      "Expected value of type \"\(type)\", found \(Printer.print(value)).", value.location)
  }

  private func fault(_ message: String, _ location: Location) -> Fault {
    Fault(.valuesOfCorrectType, message, at: location)
  }
}
