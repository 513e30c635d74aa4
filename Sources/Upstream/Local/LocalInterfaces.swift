import GraphQL
import Model

/// The interfaces of `local.graphql` with the types that implement them, by the rules of the GraphQL
/// specification (October 2021, section 3.6, "IsValidImplementation").
struct LocalInterfaces {
  private let definitions: [String: TypeDefinition]
  /// The local types that implement each interface, in alphabetical order.
  let types: [String: [String]]
  private(set) var findings: [Finding] = []

  /// - Parameter definitions: all types of the file, by name.
  init(_ definitions: [String: TypeDefinition]) {
    self.definitions = definitions
    var types: [String: [String]] = [:]
    for (name, type) in definitions where type.kind == .interface { types[name] = [] }
    for (name, type) in definitions.sorted(by: { $0.key < $1.key })
    where type.kind == .object && Self.isLocal(type) {
      for interface in type.interfaces { types[interface.value]?.append(name) }
    }
    self.types = types
  }

  private static func isLocal(_ type: TypeDefinition) -> Bool {
    type.directives.directive(named: LocalDirectives.local) != nil
  }

  private mutating func fault(_ message: String, at location: Location) {
    findings.append(Finding(.fault, message, at: location))
  }

  /// Returns the definitions of the interfaces that a type implements.
  func implemented(by type: TypeDefinition) -> [TypeDefinition] {
    type.interfaces.compactMap { name in
      definitions[name.value].flatMap { $0.kind == .interface ? $0 : nil }
    }
  }

  // MARK: Checks

  mutating func check() {
    for (name, type) in definitions.sorted(by: { $0.key < $1.key }) {
      if type.kind == .interface, types[name] == [] {
        fault("No type with @local implements \(name).", at: type.name.location)
      }
      if !type.interfaces.isEmpty { check(type) }
    }
  }

  private mutating func check(_ type: TypeDefinition) {
    if type.kind == .object, !Self.isLocal(type) {
      fault("Only types with @local can implement interfaces.", at: type.interfaces[0].location)
    }
    var seen: Set<String> = []
    for name in type.interfaces {
      if !seen.insert(name.value).inserted {
        fault("\(name.value) is implemented twice.", at: name.location)
      }
      guard let interface = definitions[name.value], interface.kind == .interface,
        name.value != type.name.value
      else {
        let known = types.keys.filter { $0 != type.name.value }.sorted()
        fault(
          "\(name.value) is not an interface of this file."
            + NearestNames.didYouMean(name.value, among: known), at: name.location)
        continue
      }
      for further in interface.interfaces
      where !type.interfaces.contains(where: { $0.value == further.value }) {
        fault(
          "\(type.name.value) must also implement \(further.value), which \(name.value) implements.",
          at: name.location)
      }
      for field in interface.fields { check(field, of: interface, in: type, at: name.location) }
    }
  }

  private mutating func check(
    _ field: FieldDefinition, of interface: TypeDefinition, in type: TypeDefinition,
    at location: Location
  ) {
    let own = type.fields.first { $0.name.value == field.name.value }
    guard let own else {
      return fault(
        "\(type.name.value) lacks the field \(field.name.value): \(field.type) of "
          + "\(interface.name.value).", at: location)
    }
    guard !isSubtype(own.type, of: field.type) else { return }
    fault(
      "\(type.name.value).\(own.name.value) must be \(field.type), as in \(interface.name.value).",
      at: own.type.location)
  }

  private func isSubtype(_ type: TypeReference, of other: TypeReference) -> Bool {
    if other.isNonNull, !type.isNonNull { return false }
    switch (type.item, other.item) {
    case (let type?, let other?): return isSubtype(type, of: other)
    case (nil, nil):
      let (name, wanted) = (type.name.value, other.name.value)
      return name == wanted
        || definitions[name]?.interfaces.contains { $0.value == wanted } ?? false
    default: return false
    }
  }
}
