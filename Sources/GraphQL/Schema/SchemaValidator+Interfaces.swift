extension SchemaValidator {
  /// Checks that an object or interface type implements its interfaces (specification 3.6, 3.7).
  mutating func validateInterfaces(of type: NamedType) {
    var seen = Set<String>()
    for name in type.interfaces {
      guard let interface = schema.type(named: name) else {
        reportUnknown(name, at: type.location)
        continue
      }
      if interface.kind != .interface {
        report(
          "Type \(type.name) must only implement interface types, it cannot implement \(name).",
          type.location)
      } else if interface === type {
        report(
          "Type \(type.name) cannot implement itself because it would create a circular reference.",
          type.location)
      } else if !seen.insert(name).inserted {
        report("Type \(type.name) can only implement \(name) once.", type.location)
      } else {
        validateAncestors(of: type, through: interface)
        for field in interface.fields { validate(type, implements: field, of: interface) }
      }
    }
  }

  private mutating func validateAncestors(of type: NamedType, through interface: NamedType) {
    for ancestor in interface.interfaces where !type.interfaces.contains(ancestor) {
      report(
        ancestor == type.name
          ? "Type \(type.name) cannot implement \(interface.name) because it would create a "
            + "circular reference."
          : "Type \(type.name) must implement \(ancestor) because it is implemented by "
            + "\(interface.name).",
        type.location, interface.location)
    }
  }

  private mutating func validate(
    _ type: NamedType, implements expected: SchemaField, of interface: NamedType
  ) {
    let expectedLabel = "\(interface.name).\(expected.name)"
    let label = "\(type.name).\(expected.name)"
    guard let field = type.fields[expected.name] else {
      report(
        "Interface field \(expectedLabel) expected but \(type.name) does not provide it.",
        type.location, expected.location)
      return
    }
    if !schema.isSubType(field.type, of: expected.type) {
      report(
        "Interface field \(expectedLabel) expects type \(expected.type) but \(label) is type "
          + "\(field.type).",
        field.type.location, expected.type.location)
    }
    for argument in expected.arguments {
      let name = argument.name
      guard let own = field.arguments[name] else {
        report(
          "Interface field argument \(expectedLabel)(\(name):) expected but \(label) does not "
            + "provide it.", field.location, argument.location)
        continue
      }
      if own.type != argument.type {
        report(
          "Interface field argument \(expectedLabel)(\(name):) expects type \(argument.type) but "
            + "\(label)(\(name):) is type \(own.type).",
          own.type.location, argument.type.location)
      }
    }
    for argument in field.arguments
    where argument.isRequired && expected.arguments[argument.name] == nil {
      report(
        "Field \(label) includes required argument \(argument.name) that is missing from the "
          + "interface field \(expectedLabel).", argument.location, expected.location)
    }
  }
}
