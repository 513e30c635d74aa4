/// Validates a type system as a whole, whether from SDL or introspection.
struct SchemaValidator {
  let schema: Schema
  private(set) var faults: [Fault] = []

  init(schema: Schema) {
    self.schema = schema
  }

  mutating func validate() -> [Fault] {
    validateRoots()
    for directive in schema.directives where !BuiltIns.isBuiltIn(directive: directive.name) {
      validateName(directive.name, at: directive.location)
      if directive.locations.isEmpty {
        report("Directive @\(directive.name) must include 1 or more locations.", directive.location)
      }
      validateArguments(directive.arguments, of: "@\(directive.name)")
    }
    for type in schema.types where !BuiltIns.isBuiltIn(type: type.name) { validate(type) }
    validateInputCycles()
    return faults
  }

  mutating func report(_ message: String, _ locations: Location...) {
    faults.append(Fault(.schema, message, at: locations))
  }

  mutating func add(_ fault: Fault) { faults.append(fault) }

  private mutating func validateRoots() {
    if schema.rootName(for: .query) == nil {
      faults.append(Fault(.schema, "Query root type must be provided."))
    }
    var seen: [String: OperationType] = [:]
    for operation in OperationType.allCases {
      guard let name = schema.rootName(for: operation) else { continue }
      let word = operation.defaultTypeName
      guard let type = schema.type(named: name) else {
        reportUnknown(name, at: .none)
        continue
      }
      if type.kind != .object {
        report("\(word) root type must be an object type, it cannot be \(name).", type.location)
      }
      if let other = seen.updateValue(operation, forKey: name) {
        report(
          "The root types must be different: \"\(name)\" is both the \(other) and the "
            + "\(operation) type.", type.location)
      }
    }
  }

  private mutating func validate(_ type: NamedType) {
    validateName(type.name, at: type.location)
    switch type.kind {
    case .scalar: break
    case .object, .interface:
      validateFields(of: type)
      validateInterfaces(of: type)
    case .union: validateMembers(of: type)
    case .enum:
      if type.values.isEmpty {
        report("Enum type \(type.name) must define one or more values.", type.location)
      }
      for value in type.values { validateName(value.name, at: value.location) }
    case .inputObject: validateInputFields(of: type)
    }
  }

  private mutating func validateName(_ name: String, at location: Location) {
    if name.utf8.starts(with: "__".utf8) {
      report(
        "Name \"\(name)\" must not begin with \"__\", which is reserved by GraphQL introspection.",
        location)
    }
  }

  /// Returns the type, or reports it as unknown.
  private mutating func known(_ reference: TypeReference) -> NamedType? {
    if let type = schema.type(of: reference) { return type }
    reportUnknown(reference.name.value, at: reference.name.location)
    return nil
  }

  mutating func reportUnknown(_ name: String, at location: Location) {
    let hint = NearestNames.didYouMean(name, among: schema.types.names)
    faults.append(Fault(.knownTypeNames, "Unknown type \"\(name)\".\(hint)", at: location))
  }

  private mutating func validateFields(of type: NamedType) {
    if type.fields.isEmpty {
      report("Type \(type.name) must define one or more fields.", type.location)
    }
    for field in type.fields {
      validateName(field.name, at: field.location)
      if let named = known(field.type), !named.isOutput {
        report(
          "The type of \(type.name).\(field.name) must be an output type but got: \(field.type).",
          field.type.location)
      }
      validateArguments(field.arguments, of: "\(type.name).\(field.name)")
    }
  }

  private mutating func validateArguments(_ arguments: NamedList<InputValue>, of owner: String) {
    for argument in arguments {
      validateName(argument.name, at: argument.location)
      validateInput(argument, label: "\(owner)(\(argument.name):)", word: "argument")
    }
  }

  private mutating func validateInput(_ value: InputValue, label: String, word: String) {
    if let named = known(value.type), !named.isInput {
      report(
        "The type of \(label) must be an input type but got: \(value.type).", value.type.location)
    } else if let defaultValue = value.defaultValue {
      let checker = LiteralChecker(schema: schema)
      for fault in checker.faults(of: defaultValue, as: value.type) {
        faults.append(
          Fault(.schema, "The default value of \(label): \(fault.message)", at: fault.locations))
      }
    }
    if value.isRequired, value.deprecationReason != nil {
      report("Required \(word) \(label) cannot be deprecated.", value.location)
    }
  }

  private mutating func validateMembers(of type: NamedType) {
    if type.members.isEmpty {
      report("Union type \(type.name) must define one or more member types.", type.location)
    }
    var seen = Set<String>()
    for name in type.members {
      guard let member = schema.type(named: name) else {
        reportUnknown(name, at: type.location)
        continue
      }
      if member.kind != .object {
        report(
          "Union type \(type.name) can only include object types, it cannot include \(name).",
          type.location)
      } else if !seen.insert(name).inserted {
        report("Union type \(type.name) can only include type \(name) once.", type.location)
      }
    }
  }

  private mutating func validateInputFields(of type: NamedType) {
    if type.inputFields.isEmpty {
      report("Input object type \(type.name) must define one or more fields.", type.location)
    }
    for field in type.inputFields {
      let label = "\(type.name).\(field.name)"
      validateName(field.name, at: field.location)
      validateInput(field, label: label, word: "input field")
      guard type.isOneOf else { continue }
      if field.type.isNonNull {
        report("One-of input field \(label) must be nullable.", field.type.location)
      }
      if field.defaultValue != nil {
        report("One-of input field \(label) cannot have a default value.", field.location)
      }
    }
  }
}

extension Schema {
  /// Returns all faults of the type system (specification section 3), in the order of the types. If
  /// there are none, documents can be validated and executed against it.
  package func validate() -> [Fault] {
    var validator = SchemaValidator(schema: self)
    return validator.validate()
  }
}
