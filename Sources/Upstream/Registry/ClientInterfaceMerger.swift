import Model

/// Merges the client interfaces of several upstreams.
///
/// Enums and input objects that are alike in all upstreams are one type; descriptions and the order of an
/// enum's values make no difference. Others of one name get the name of their upstream before their own:
/// no request names these types.
struct ClientInterfaceMerger {
  typealias Part = (upstream: UpstreamName, interface: ClientInterface)

  private var parts: [Part]

  init(_ parts: [Part]) {
    self.parts = parts
  }

  /// - Returns: nil without a part.
  mutating func merge() -> ClientInterface? {
    // A renamed type can make input objects differ that were alike. New names are of no other type, so
    // each round leaves fewer names that can be ambiguous.
    var names = ambiguousNames()
    while !names.isEmpty {
      rename(names)
      names = ambiguousNames()
    }
    guard let first = parts.first?.interface else { return nil }
    return parts.dropFirst().reduce(into: first) { $0.merge($1.interface) }
  }

  // MARK: Ambiguous names

  /// What makes two types of one name differ.
  private enum Definition: Hashable {
    case enumeration(Set<String>)
    case input([Member], isOneOf: Bool)
  }

  private struct Member: Hashable {
    let name: String
    let type: ClientType
    let isConditional: Bool
  }

  /// In alphabetical order.
  private func ambiguousNames() -> [String] {
    var definitions: [String: Set<Definition>] = [:]
    for interface in parts.map(\.interface) {
      for type in interface.enums {
        definitions[type.name, default: []].insert(.enumeration(Set(type.values.map(\.name))))
      }
      for type in interface.inputs {
        let members = type.fields.map {
          Member(name: $0.name, type: $0.type, isConditional: $0.isConditional)
        }
        definitions[type.name, default: []].insert(.input(members, isOneOf: type.isOneOf))
      }
    }
    return definitions.filter { $1.count > 1 }.keys.sorted()
  }

  private mutating func rename(_ names: [String]) {
    var taken = Set(parts.map(\.interface).flatMap(\.typeNames))
    for index in parts.indices {
      let own = Set(parts[index].interface.typeNames)
      var renamed: [String: String] = [:]
      for name in names where own.contains(name) {
        var new = Self.prefix(parts[index].upstream) + name
        while !taken.insert(new).inserted { new += "_" }
        renamed[name] = new
      }
      parts[index].interface = ClientTypeRenamer(names: renamed).interface(parts[index].interface)
    }
  }

  /// `my-films` as `MyFilms`; an underscore before a digit.
  private static func prefix(_ upstream: UpstreamName) -> String {
    let words = upstream.text.split { $0 == "-" || $0 == "_" }
    let text = words.map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
    return text.first?.isNumber == true ? "_" + text : text
  }
}

/// Gives enums and input objects of an interface other names, wherever they are used.
private struct ClientTypeRenamer {
  let names: [String: String]

  func interface(_ interface: ClientInterface) -> ClientInterface {
    guard !names.isEmpty else { return interface }
    var result = interface
    result.operations = interface.operations.map {
      ClientOperation(
        name: $0.name, kind: $0.kind, description: $0.description,
        variables: $0.variables.map(field), response: object($0.response), lookup: $0.lookup)
    }
    result.fragments = interface.fragments.map {
      ClientFragment(name: $0.name, description: $0.description, object: object($0.object))
    }
    for index in result.entities.indices {
      result.entities[index].fields = result.entities[index].fields.map(field)
    }
    result.enums = interface.enums.map {
      ClientEnum(name: name($0.name), description: $0.description, values: $0.values)
    }
    result.inputs = interface.inputs.map {
      ClientInput(
        name: name($0.name), description: $0.description, fields: $0.fields.map(field),
        isOneOf: $0.isOneOf, isEmbedded: $0.isEmbedded)
    }
    return result
  }

  private func name(_ name: String) -> String { names[name] ?? name }

  private func object(_ object: ClientObject) -> ClientObject {
    ClientObject(
      typeName: object.typeName, fields: object.fields.map(field), fragments: object.fragments)
  }

  private func field(_ field: ClientField) -> ClientField {
    ClientField(
      name: field.name, type: type(field.type), isConditional: field.isConditional,
      isTypename: field.isTypename, description: field.description,
      deprecation: field.deprecation, fallback: field.fallback)
  }

  private func type(_ type: ClientType) -> ClientType {
    switch type {
    case .nonNull(let inner): .nonNull(self.type(inner))
    case .list(let item): .list(self.type(item))
    case .enumeration(let name): .enumeration(self.name(name))
    case .input(let name): .input(self.name(name))
    case .object(let object): .object(self.object(object))
    case .choice(let choice):
      .choice(
        ClientChoice(
          typenameMember: choice.typenameMember, general: object(choice.general),
          variants: choice.variants.map(object), others: choice.others))
    case .scalar, .plain, .reference: type
    }
  }
}

extension ClientInterface {
  /// The names that generated code has for types of upstream, those of operations excluded.
  fileprivate var typeNames: [String] {
    enums.map(\.name) + inputs.map(\.name) + entities.map(\.name) + fragments.map(\.name)
  }
}
