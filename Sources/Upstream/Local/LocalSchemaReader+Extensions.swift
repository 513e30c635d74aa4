import GraphQL
import LosslessJSON
import Model

/// `extend type Film { … @local }`: local fields of upstream's types.
extension LocalSchemaReader {
  /// Returns the parts of each extended type, one for each kind of owner.
  mutating func extensions(_ added: [TypeDefinition]) -> [String: [LocalType]] {
    var extended: [String] = []
    var fields: [String: [FieldDefinition]] = [:]
    for definition in added where canExtend(definition) {
      let name = definition.name.value
      if !extended.contains(name) { extended.append(name) }
      fields[name, default: []] += definition.fields
    }
    return extended.reduce(into: [:]) { parts, name in
      parts[name] = self.parts(of: name, fields[name] ?? [])
    }
  }

  private mutating func canExtend(_ definition: TypeDefinition) -> Bool {
    let name = definition.name.value
    guard case .object(let interfaces, _) = definition.body else {
      fault("Only object types can be extended, with local fields.", at: definition.name.location)
      return false
    }
    for interface in interfaces {
      fault("An extension cannot implement interfaces.", at: interface.location)
    }
    for directive in definition.directives {
      fault(
        "An extension has no directives; its fields have @local one by one.",
        at: directive.location)
    }
    if isUpstream(name) { return true }
    let reason =
      definitions[name] == nil
      ? "no operation selects a type of upstream with this name."
        + NearestNames.didYouMean(name, among: upstreamTypes)
      : "it is defined in this file: write the whole type."
    fault("\(name) cannot be extended: \(reason)", at: definition.name.location)
    return false
  }

  private mutating func parts(
    of name: String, _ definitions: [FieldDefinition]
  ) -> [LocalType] {
    for definition in definitions { check(definition, of: name) }
    let whole = TypeDefinition(
      name: Name(name), body: .object(interfaces: [], fields: definitions),
      isExtension: true)
    let fields = fields(of: whole)
    // A second definition of a name is a fault, and no field.
    var seen: Set<String> = []
    let first = definitions.filter { seen.insert($0.name.value).inserted }
    return [Scope.Kind.device, .user].compactMap { owner in
      let owned = first.filter { Self.owner(of: $0) == owner }
      let names = Set(owned.map(\.name.value))
      guard !names.isEmpty else { return nil }
      let part = LocalSchema.partName(of: name, owner: owner)
      extensions[part] = TypeDefinition(
        name: Name(part), body: .object(interfaces: [], fields: owned), isExtension: true)
      return LocalType(name: part, scope: owner, fields: fields.filter { names.contains($0.name) })
        .extending(name)
    }
  }

  private static func owner(of definition: FieldDefinition) -> Scope.Kind {
    let directive = definition.directives.directive(named: LocalDirectives.local)
    let scope = directive.flatMap { DirectiveArguments($0).enumValue("scope") }
    return scope == "USER" ? .user : .device
  }

  private mutating func check(_ definition: FieldDefinition, of type: String) {
    let name = definition.name.value
    note(definition.directives)
    if definition.directives.directive(named: LocalDirectives.local) == nil {
      fault(
        "\(type).\(name) needs @local: only local fields can be added to a type of upstream.",
        at: definition.name.location)
    }
    if hasUpstreamField(name, of: type) {
      fault("\(type) already has a field \(name), of upstream.", at: definition.name.location)
    }
    if let directive = definition.directives.directive(named: LocalDirectives.inverse),
      let rule = DirectiveArguments(directive).enumValue("onDelete"), rule != "NULLIFY"
    {
      fault(
        "@inverse(onDelete:) must be NULLIFY on \(type).\(name): upstream deletes a \(type) "
          + "whatever refers to it.", at: directive.location)
    }
  }

  /// Reports fields without a value for an entity for which nothing was written.
  mutating func checkValues(of extended: [String: [LocalType]]) {
    for (type, parts) in extended.sorted(by: { $0.key < $1.key }) {
      for part in parts {
        for field in part.fields where field.needsValue {
          let definition = extensions[part.name]?.fields.first { $0.name.value == field.name }
          // A faulty default is reported already.
          guard definition?.directives.directive(named: LocalDirectives.fallback) == nil else {
            continue
          }
          fault(
            "\(type).\(field.name) is non-null and has no @default: a \(type) for which nothing was "
              + "written has no value.", at: definition?.name.location ?? .none)
        }
      }
    }
  }
}
