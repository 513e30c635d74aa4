import LosslessJSON
import Model
import Upstream

/// Builds the components of an OpenAPI document.
struct SchemaBuilder {
  /// The prefix of a reference to a component.
  private static let componentsPath = "#/components/schemas/"

  private let scalars: [String: ScalarForm]
  private let scalarTypes: [String: ClientScalar]
  private let fragments: [String: ClientFragment]
  private let embedded: Set<String>
  private var names: ComponentNames
  /// The components of enums, input objects and fragments, by their own names.
  private var enumNames: [String: String] = [:]
  private var inputNames: [String: String] = [:]
  private var fragmentNames: [String: String] = [:]
  private(set) var components: [JSONMember] = []

  init(
    _ interface: ClientInterface, scalars: [String: ScalarForm], reserved: some Sequence<String>
  ) {
    self.scalars = scalars
    scalarTypes = interface.scalars
    fragments = Dictionary(
      interface.fragments.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    embedded = Set(interface.inputs.filter(\.isEmbedded).map(\.name))
    names = ComponentNames(reserved: reserved)
    // Named before anything is built, because they refer to each other.
    for type in interface.enums where enumNames[type.name] == nil {
      enumNames[type.name] = names.name(type.name)
    }
    for input in interface.inputs where !input.isEmbedded && inputNames[input.name] == nil {
      inputNames[input.name] = names.name(input.name)
    }
    for fragment in interface.fragments where fragmentNames[fragment.name] == nil {
      fragmentNames[fragment.name] = names.name(fragment.name)
    }
  }

  private static func reference(_ name: String) -> JSONValue {
    ["$ref": .string(componentsPath + name)]
  }

  private mutating func add(_ name: String, _ schema: JSONValue) {
    components.append(JSONMember(name, schema))
  }

  // MARK: Named types

  mutating func add(_ type: ClientEnum) {
    guard let name = enumNames[type.name], !components.contains(where: { $0.name == name }) else {
      return
    }
    let described = type.values.compactMap { value in
      Documentation.text(value.description, deprecation: value.deprecation).map {
        "- `\(value.name)`: \($0)"
      }
    }
    let text = [Documentation.text(type.description), described.joined(separator: "\n")]
      .compactMap { $0 }.filter { !$0.isEmpty }
    var schema: JSONValue = [
      "type": "string", "enum": .array(type.values.map { .string($0.name) }),
    ]
    if !text.isEmpty { schema["description"] = .string(text.joined(separator: "\n\n")) }
    add(name, schema)
  }

  mutating func add(_ input: ClientInput) {
    guard let name = inputNames[input.name], !components.contains(where: { $0.name == name }) else {
      return
    }
    var schema: JSONValue = ["type": "object"]
    let remark = input.isOneOf ? "Exactly one field must be given." : nil
    let text = [Documentation.text(input.description), remark].compactMap { $0 }
    if !text.isEmpty { schema["description"] = .string(text.joined(separator: "\n\n")) }
    let required = input.fields.filter { !$0.isConditional && $0.type.isNonNull }.map(\.name)
    if !required.isEmpty { schema["required"] = .array(required.map { .string($0) }) }
    if input.isOneOf {
      schema["minProperties"] = 1
      schema["maxProperties"] = 1
    }
    schema["additionalProperties"] = false
    var properties: [JSONMember] = []
    for field in input.fields {
      // Exactly one is given, and not as null.
      let value = self.value(of: input.isOneOf ? field.type.required : field.type, at: .input)
      properties.append(JSONMember(field.name, Self.described(value, field)))
    }
    schema["properties"] = .object(properties)
    add(name, schema)
  }

  mutating func add(_ fragment: ClientFragment) {
    guard let name = fragmentNames[fragment.name],
      !components.contains(where: { $0.name == name })
    else { return }
    var schema = record(fragment.object, path: fragment.name, own: fragment.name)
    schema["description"] = .string(
      Documentation.text(fragment.description)
        ?? "The fragment \(fragment.name) on \(fragment.object.typeName).")
    add(name, schema)
  }

  /// - Returns: the name of the component.
  mutating func add(_ entity: ClientEntity) -> String {
    let name = names.name("\(entity.name)Entity")
    var schema: JSONValue = [
      "type": "object",
      "description": .string(
        [
          Documentation.text(entity.description),
          "Fields that were never fetched are absent. A view shows the members of its fragment.",
        ].compactMap { $0 }.joined(separator: "\n\n")),
    ]
    var properties = [
      JSONMember(
        StoredForm.typenameMember, ["type": "string", "enum": [.string(entity.name)]])
    ]
    for field in entity.fields {
      let value = self.value(of: field.type, at: .output("\(name)_\(field.name)"))
      properties.append(JSONMember(field.name, Self.described(value, field)))
    }
    properties += [
      JSONMember("_rev", ["type": "string", "description": "The revision of what is shown."]),
      JSONMember(
        "_pending", ["type": "boolean", "description": "Whether an optimistic update applies."]),
      JSONMember(
        "_deleted",
        [
          "type": "boolean",
          "description": "Whether upstream has deleted it and only local fields are left.",
        ]),
    ]
    schema["properties"] = .object(properties)
    add(name, schema)
    return name
  }

  // MARK: Operations

  mutating func response(
    of operation: ClientOperation, besideData: [JSONMember]
  ) -> JSONValue {
    let (response, data) = (
      names.name("\(operation.name)Response"), names.name("\(operation.name)Data")
    )
    add(data, record(operation.response, path: operation.name, own: nil))
    add(
      response,
      [
        "type": "object",
        "description": .string("The response of the \(operation.kind.rawValue) \(operation.name)."),
        "required": ["data"],
        "properties": .object(
          [JSONMember("data", ["anyOf": [Self.reference(data), ["type": "null"]]])] + besideData),
      ])
    return Self.reference(response)
  }

  mutating func variable(_ variable: ClientField) -> JSONValue {
    value(of: variable.type.required, at: .input)
  }

  // MARK: Values

  /// Where a value stands.
  private enum Place {
    case input
    /// In a response; the path names the component of an object there.
    case output(String)

    var isInput: Bool {
      if case .input = self { true } else { false }
    }
  }

  private mutating func value(of type: ClientType, at place: Place) -> JSONValue {
    if case .nonNull(let inner) = type { return required(inner, at: place) }
    let value = required(type, at: place)
    // Any JSON value can be null.
    return value["type"] == nil && value["$ref"] == nil && value["anyOf"] == nil
      ? value : ["anyOf": [value, ["type": "null"]]]
  }

  private mutating func required(_ type: ClientType, at place: Place) -> JSONValue {
    switch type {
    case .nonNull(let inner): return required(inner, at: place)
    case .list(let item): return ["type": "array", "items": value(of: item, at: place)]
    case .scalar(let name):
      return scalar(
        scalars[name] ?? ScalarForm.standard(of: name), named: name, isInput: place.isInput)
    case .plain(let form): return scalar(form, named: nil, isInput: place.isInput)
    case .enumeration(let name):
      return enumNames[name].map(Self.reference) ?? ["type": "string"]
    case .input(let name):
      if embedded.contains(name) { return Self.reference("\(name)Object") }
      return inputNames[name].map(Self.reference) ?? ["type": "object"]
    case .object(let object):
      guard case .output(let path) = place else { return ["type": "object"] }
      return self.object(object, path: path)
    case .choice(let choice):
      guard case .output(let path) = place else { return ["type": "object"] }
      return self.choice(choice, path: path)
    case .reference(let isAbstract):
      let key: JSONValue =
        isAbstract
        ? [
          "type": "object", "required": ["type", "id"],
          "properties": ["type": ["type": "string"], "id": ["type": "string"]],
        ] : ["type": "string"]
      return [
        "anyOf": [key, ["type": "object"]],
        "description": "The key of the entity, or the entity where it is nested.",
      ]
    }
  }

  /// The schema of a scalar. One of which nothing is known can be any JSON value; its title and its
  /// description in the schema say what it is.
  private func scalar(
    _ form: ScalarForm, named name: String?, isInput: Bool
  ) -> JSONValue {
    var schema: JSONValue =
      switch form {
      case .string, .date: ["type": "string"]
      case .int:
        isInput
          ? [
            "type": "integer", "format": "int32", "minimum": -2_147_483_648,
            "maximum": 2_147_483_647,
          ] : ["type": "integer", "format": "int32"]
      case .long: ["type": "integer", "format": "int64"]
      case .double: ["type": "number", "format": "double"]
      case .boolean: ["type": "boolean"]
      case .decimal: ["type": "number"]
      case .uuid: ["type": "string", "format": "uuid"]
      case .url: ["type": "string", "format": "uri"]
      case .data: ["type": "string", "contentEncoding": "base64"]
      case .json: .object([])
      }
    if let name, !GraphQLScalars.names.contains(name) {
      if form == .json { schema["title"] = .string(name) }
      let type = scalarTypes[name]
      schema["description"] = .string(
        Documentation.text(type?.description) ?? "The scalar \(name).")
      if let address = type?.specifiedBy {
        schema["externalDocs"] = ["url": .string(address)]
      }
    }
    return schema
  }

  // MARK: Objects

  /// The schema of an object: a fragment that has the same fields, otherwise a component of its own.
  private mutating func object(_ object: ClientObject, path: String) -> JSONValue {
    for fragment in object.fragments {
      guard let known = fragments[fragment], let name = fragmentNames[fragment],
        known.object.fields.count == object.fields.count,
        Set(known.object.fields) == Set(object.fields)
      else { continue }
      return Self.reference(name)
    }
    let name = names.name(path)
    add(name, record(object, path: path, own: nil))
    return Self.reference(name)
  }

  /// The members of an object: those of fragments by reference, others in place.
  ///
  /// - Parameters:
  ///   - own: the fragment that is described.
  ///   - typename: the only value of the type's name; nil for any.
  private mutating func record(
    _ object: ClientObject, path: String, own: String?, typename: [String]? = nil
  ) -> JSONValue {
    var open = object.fields
    if typename != nil { open.removeAll(where: \.isTypename) }
    var parts: [JSONValue] = []
    let spread = object.fragments.filter { $0 != own }.compactMap { name in
      fragments[name].map { (name, Set($0.object.fields)) }
    }
    let all = Set(object.fields)
    for (fragment, fields) in spread.sorted(by: { $0.1.count > $1.1.count }) {
      guard !fields.isEmpty, fields.isSubset(of: all), open.contains(where: fields.contains),
        let name = fragmentNames[fragment]
      else { continue }
      parts.append(Self.reference(name))
      open.removeAll(where: fields.contains)
    }
    if typename != nil { open.insert(contentsOf: object.fields.filter(\.isTypename), at: 0) }
    let rest = members(open, path: path, typename: typename)
    if parts.isEmpty { return rest }
    return ["allOf": .array(parts + (open.isEmpty ? [] : [rest]))]
  }

  private mutating func members(
    _ fields: [ClientField], path: String, typename: [String]?
  ) -> JSONValue {
    var properties: [JSONMember] = []
    for field in fields {
      if field.isTypename, let typename {
        properties.append(
          JSONMember(
            field.name, ["type": "string", "enum": .array(typename.map { .string($0) })]))
        continue
      }
      let value = self.value(of: field.type, at: .output("\(path)_\(field.name)"))
      properties.append(JSONMember(field.name, Self.described(value, field)))
    }
    let required = fields.filter { !$0.isConditional }.map { JSONValue.string($0.name) }
    var schema: JSONValue = ["type": "object"]
    if !required.isEmpty { schema["required"] = .array(required) }
    schema["properties"] = .object(properties)
    return schema
  }

  /// The schema of a position with several types, told apart by the type's name if it is selected.
  private mutating func choice(_ choice: ClientChoice, path: String) -> JSONValue {
    let hasTypename = choice.general.fields.contains {
      $0.isTypename && !$0.isConditional && $0.name == choice.typenameMember
    }
    var references: [JSONValue] = []
    var mapping: [JSONMember] = []
    func note(_ name: String, _ types: [String]) {
      references.append(Self.reference(name))
      mapping += types.map { JSONMember($0, .string(Self.componentsPath + name)) }
    }
    for variant in choice.variants {
      let inner = "\(path)_On\(variant.typeName)"
      let name = names.name(inner)
      add(name, record(variant, path: inner, own: nil, typename: [variant.typeName]))
      note(name, [variant.typeName])
    }
    if !choice.others.isEmpty {
      let inner = "\(path)_OnOther"
      let name = names.name(inner)
      add(name, record(choice.general, path: inner, own: nil, typename: choice.others))
      note(name, choice.others)
    }
    let component = names.name(path)
    var schema: JSONValue = [hasTypename ? "oneOf" : "anyOf": .array(references)]
    if hasTypename {
      schema["discriminator"] = [
        "propertyName": .string(choice.typenameMember), "mapping": .object(mapping),
      ]
    }
    add(component, schema)
    return Self.reference(component)
  }

  private static func described(_ value: JSONValue, _ field: ClientField) -> JSONValue {
    var value = value
    let text = [
      Documentation.text(field.description, deprecation: field.deprecation),
      value["description"]?.string,
    ].compactMap { $0 }
    if !text.isEmpty { value["description"] = .string(text.joined(separator: "\n\n")) }
    if field.deprecation != nil { value["deprecated"] = true }
    return value
  }
}

/// The scalars of the GraphQL specification.
private enum GraphQLScalars {
  static let names: Set<String> = ["Int", "Float", "String", "Boolean", "ID"]
}

extension ClientType {
  fileprivate var isNonNull: Bool {
    if case .nonNull = self { true } else { false }
  }

  /// The type without null.
  fileprivate var required: ClientType { isNonNull ? self : .nonNull(self) }
}
