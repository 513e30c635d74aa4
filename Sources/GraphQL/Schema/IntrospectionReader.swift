package import LosslessJSON

/// Reads the members of an introspection response, and reports malformed ones.
struct IntrospectionReader {
  private(set) var faults: [Fault] = []

  mutating func schema(_ json: JSONValue) -> Schema? {
    guard let types = json["types"]?.array else {
      report("The response has no \"__schema\" with types.")
      return nil
    }
    var roots: [OperationType: String] = [:]
    for (operation, member) in [
      (OperationType.query, "queryType"), (.mutation, "mutationType"),
      (.subscription, "subscriptionType"),
    ] {
      roots[operation] = json[member]?["name"]?.string
    }
    if roots[.query] == nil { report("The response names no query type.") }
    return Schema(
      description: json["description"]?.string,
      types: types.compactMap { type($0) },
      directives: (json["directives"]?.array ?? []).compactMap { directive($0) },
      rootNames: roots)
  }

  private mutating func report(_ message: String) {
    if faults.count < Self.faultsMax { faults.append(Fault(.introspection, message)) }
  }

  /// A response of another shape would have a fault in every member.
  private static let faultsMax = 50

  private mutating func name(_ json: JSONValue, _ what: String) -> String? {
    if let name = json["name"]?.string, Self.isName(name) { return name }
    report("\(what) has no name, or an invalid GraphQL name.")
    return nil
  }

  private static func isName(_ text: String) -> Bool {
    text.utf8.first?.isNameStart == true && text.utf8.allSatisfy(\.isNameContinue)
  }

  private mutating func type(_ json: JSONValue) -> NamedType? {
    guard let name = name(json, "A type") else { return nil }
    guard let kind = json["kind"]?.string.flatMap({ TypeKind(rawValue: $0) }) else {
      report("Type \"\(name)\" has an unknown kind.")
      return nil
    }
    let hasFields = kind == .object || kind == .interface
    return NamedType(
      kind: kind, name: name, description: json["description"]?.string,
      fields: NamedList(hasFields ? list(json, "fields").compactMap { field($0, of: name) } : []),
      // Before interfaces could implement others, theirs were null.
      interfaces: hasFields ? list(json, "interfaces").compactMap { $0["name"]?.string } : [],
      members: kind == .union ? list(json, "possibleTypes").compactMap { $0["name"]?.string } : [],
      values: NamedList(
        kind == .enum ? list(json, "enumValues").compactMap { enumValue($0, of: name) } : []),
      inputFields: NamedList(
        kind == .inputObject
          ? list(json, "inputFields").compactMap { inputValue($0, of: name) } : []),
      isOneOf: json["isOneOf"]?.bool ?? false,
      specifiedByURL: (json["specifiedByURL"] ?? json["specifiedByUrl"])?.string)
  }

  private func list(_ json: JSONValue, _ member: String) -> [JSONValue] {
    json[member]?.array ?? []
  }

  private func deprecationReason(_ json: JSONValue) -> String? {
    guard json["isDeprecated"]?.bool == true else { return nil }
    return json["deprecationReason"]?.string ?? "No longer supported"
  }

  private mutating func field(_ json: JSONValue, of owner: String) -> SchemaField? {
    guard let name = name(json, "A field of \"\(owner)\""),
      let type = reference(json["type"], of: "\(owner).\(name)")
    else { return nil }
    return SchemaField(
      name: name, description: json["description"]?.string,
      arguments: NamedList(
        list(json, "args").compactMap { inputValue($0, of: "\(owner).\(name)") }),
      type: type, deprecationReason: deprecationReason(json))
  }

  private mutating func inputValue(_ json: JSONValue, of owner: String) -> InputValue? {
    guard let name = name(json, "An input value of \"\(owner)\""),
      let type = reference(json["type"], of: "\(owner).\(name)")
    else { return nil }
    var defaultValue: Value?
    if let text = json["defaultValue"]?.string {
      do throws(Fault) {
        defaultValue = try Parser.parseConstValue(Source(name: "introspection", body: text))
      } catch {
        report(
          "The default value of \"\(owner).\(name)\" is not a valid GraphQL value: "
            + JSONValue.string(String(text.prefix(100))).text)
      }
    }
    return InputValue(
      name: name, description: json["description"]?.string, type: type,
      defaultValue: defaultValue, deprecationReason: deprecationReason(json))
  }

  private mutating func enumValue(_ json: JSONValue, of owner: String) -> EnumValue? {
    guard let name = name(json, "A value of \"\(owner)\"") else { return nil }
    return EnumValue(
      name: name, description: json["description"]?.string,
      deprecationReason: deprecationReason(json))
  }

  /// Reads a directive; unknown locations of newer specifications are left out.
  private mutating func directive(_ json: JSONValue) -> SchemaDirective? {
    guard let name = name(json, "A directive") else { return nil }
    let locations = list(json, "locations").compactMap { location in
      location.string.flatMap { DirectiveLocation(rawValue: $0) }
    }
    return SchemaDirective(
      name: name, description: json["description"]?.string,
      arguments: NamedList(list(json, "args").compactMap { inputValue($0, of: "@\(name)") }),
      isRepeatable: json["isRepeatable"]?.bool ?? false, locations: Set(locations))
  }

  /// Reads a type from its wrappers inwards; the JSON reader limits their nesting.
  private mutating func reference(_ json: JSONValue?, of owner: String) -> TypeReference? {
    guard let json else {
      report("\"\(owner)\" has no type.")
      return nil
    }
    switch json["kind"]?.string {
    case "LIST":
      return reference(json["ofType"], of: owner).map { .list($0) }
    case "NON_NULL":
      guard let inner = reference(json["ofType"], of: owner) else { return nil }
      return .nonNull(inner.nullable)
    default:
      return name(json, "The type of \"\(owner)\"").map { .named($0) }
    }
  }
}

extension Schema {
  /// Builds a schema from the response to an introspection query: the whole response, its `data`, or
  /// the value of `__schema`.
  ///
  /// Missing members of newer specifications count as absent. The schema is not validated, since
  /// servers publish schemas that break the rules: call `validate()`.
  package static func build(introspection response: JSONValue) throws(Faults) -> Schema {
    var reader = IntrospectionReader()
    let data = response["data"] ?? response
    let schema = reader.schema(data["__schema"] ?? data)
    guard reader.faults.isEmpty, let schema else { throw Faults(reader.faults) }
    return schema
  }
}
