package import Model
package import Upstream

extension ClientInterface {
  /// Returns the interface with the types of `local.graphql`, and the local fields of upstream's types.
  package func adding(_ local: LocalSchema) -> ClientInterface {
    var interface = self
    for index in interface.entities.indices {
      for part in local.extensions[interface.entities[index].name] ?? [] {
        // A caller sees them only as their owner.
        interface.entities[index].fields += part.fields.filter { !$0.isToMany }.map {
          ClientField($0, in: local, dates: part.dates, isConditional: true)
        }
      }
    }
    interface.entities += local.types.values.map { type in
      ClientEntity(
        name: type.name, keyFields: type.keyFields,
        fields: type.fields.filter { !$0.isToMany }.map {
          ClientField($0, in: local, dates: type.dates)
        },
        isLocal: true)
    }
    interface.entities.sort { $0.name < $1.name }
    let known = Dictionary(
      enums.map { ($0.name, Set($0.values.map(\.name))) }, uniquingKeysWith: { first, _ in first })
    // One that is alike upstream is that one, with its descriptions.
    interface.enums += local.enums.filter { known[$0] != Set($1) }.map { name, values in
      ClientEnum(name: name, values: values.map { ClientEnum.Value(name: $0) })
    }
    interface.enums.sort { $0.name < $1.name }
    interface.inputs += local.objects.map { name, fields in
      ClientInput(
        name: name,
        fields: fields.map { ClientField($0, in: local, dates: dates(of: name, local)) },
        isEmbedded: true)
    }
    interface.inputs.sort { $0.name < $1.name }
    return interface
  }

  /// The format of the dates in an embedded type: that of the local types, and of the local fields of
  /// upstream's, that have it; nil if there are several.
  private func dates(of object: String, _ local: LocalSchema) -> DateFormat? {
    let owners = Array(local.types.values) + local.extensions.values.flatMap { $0 }
    let formats = Set(owners.filter { Self.uses(object, $0.fields, local) }.map(\.dates))
    return formats.count > 1 ? nil : formats.first ?? .iso8601
  }

  private static func uses(_ object: String, _ fields: [LocalField], _ local: LocalSchema) -> Bool {
    var open = fields
    var seen: Set<String> = []
    while let field = open.popLast() {
      guard case .object(let name) = field.kind, seen.insert(name).inserted else { continue }
      if name == object { return true }
      open += local.objects[name] ?? []
    }
    return false
  }
}

extension ClientField {
  /// - Parameter dates: nil if the field's dates have no single format.
  fileprivate init(
    _ field: LocalField, in local: LocalSchema, dates: DateFormat?, isConditional: Bool = false
  ) {
    var type = Self.type(of: field.kind, possibleTypes: field.possibleTypes, dates: dates)
    for (index, isNonNull) in field.nonNull.enumerated().reversed() {
      if index < field.nonNull.count - 1 { type = .list(type) }
      if isNonNull { type = .nonNull(type) }
    }
    self.init(
      name: field.name, type: type, isConditional: isConditional,
      fallback: field.fallback.map { local.formatted($0, field, dates: dates ?? .iso8601) })
  }

  private static func type(
    of kind: LocalField.Kind, possibleTypes: [String], dates: DateFormat?
  ) -> ClientType {
    switch kind {
    case .scalar(.date):
      switch dates {
      case .iso8601: .scalar(LocalScalar.date.rawValue)
      case .seconds, .milliseconds: .plain(.double)
      case .pattern: .plain(.string)
      case nil: .plain(.json)
      }
    case .scalar(let scalar): .plain(ScalarForm.standard(of: scalar.rawValue))
    case .enumeration(let name): .enumeration(name)
    case .object(let name): .input(name)
    case .entity: .reference(isAbstract: !possibleTypes.isEmpty)
    }
  }
}
