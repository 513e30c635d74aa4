import LosslessJSON
import Model

/// The schemas of local types in `/openapi.json`, and the references to them from the routes of entities.
///
/// | component | |
/// |---|---|
/// | `TripEntity` | a row as it is read; `oneOf` them for an interface |
/// | `TripInput` | the body of an insertion or a replacement |
/// | `TripPatch` | the merge patch of an update; for an upstream type, of its local fields |
/// | `PlaceObject` | an embedded object |
struct OpenAPILocalTypes {
  let schema: LocalSchema

  private static let jsonType = "application/json"
  private static let collection = "/v1/entities/{type}"
  private static let entity = "/v1/entities/{type}/{id}"

  private var types: [LocalType] { schema.types.values.sorted { $0.name < $1.name } }

  /// Adds the schemas to a document.
  func add(to document: inout JSONValue) {
    for (name, component) in components {
      document["components"]?["schemas"]?[name] = component
    }
    let entities = types.map { "\($0.name)Entity" }
    let patches = types.map { "\($0.name)Patch" } + extended.map { "\($0.name)Patch" }
    if !entities.isEmpty {
      let inputs: JSONValue = ["anyOf": Self.references(to: types.map { "\($0.name)Input" })]
      let rows: JSONValue = [
        "oneOf": Self.references(to: entities),
        "discriminator": discriminator(among: types.map(\.name)),
      ]
      setBody(inputs, of: "post", Self.collection, in: &document)
      setBody(inputs, of: "put", Self.entity, in: &document)
      setResponse(rows, "201", of: "post", Self.collection, in: &document)
      setResponse(rows, "200", of: "put", Self.entity, in: &document)
      setResponse(rows, "201", of: "put", Self.entity, in: &document)
    }
    if !patches.isEmpty {
      let patch = Self.orOther(
        Self.references(to: patches).array ?? [], "A correction of an entity of your API.")
      setBody(patch, of: "patch", Self.entity, in: &document)
      setBody(patch, of: "patch", Self.collection, in: &document)
    }
  }

  // MARK: Routes

  private func setBody(
    _ schema: JSONValue, of method: String, _ path: String, in document: inout JSONValue
  ) {
    document["paths"]?[path]?[method]?["requestBody"]?["content"]?[Self.jsonType]?["schema"] =
      schema
  }

  private func setResponse(
    _ schema: JSONValue, _ status: String, of method: String, _ path: String,
    in document: inout JSONValue
  ) {
    document["paths"]?[path]?[method]?["responses"]?[status]?["content"]?[Self.jsonType]?[
      "schema"] = schema
  }

  private static func orOther(_ schemas: [JSONValue], _ description: String) -> JSONValue {
    let other: JSONValue = ["type": "object", "description": .string(description)]
    return ["anyOf": .array(schemas + [other])]
  }

  private static func reference(to name: String) -> JSONValue {
    ["$ref": .string("#/components/schemas/\(name)")]
  }

  private static func references(to names: [String]) -> JSONValue {
    .array(names.map(reference))
  }

  private func discriminator(among types: [String]) -> JSONValue {
    [
      "propertyName": .string(StoredForm.typenameMember),
      "mapping": .object(
        types.map { JSONMember($0, .string("#/components/schemas/\($0)Entity")) }),
    ]
  }

  // MARK: Components

  /// The names of the components that ``add(to:)`` adds.
  var componentNames: [String] { components.map(\.0) }

  /// The local fields of each upstream type that has some.
  private var extended: [(name: String, parts: [LocalType])] {
    schema.extensions.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
  }

  private var components: [(String, JSONValue)] {
    let own = types.flatMap { type in
      [
        ("\(type.name)Entity", entity(type)), ("\(type.name)Input", input(type)),
        ("\(type.name)Patch", patch([type])),
      ]
    }
    let interfaces = schema.interfaces.values.sorted { $0.name < $1.name }.map { interface in
      (
        "\(interface.name)Entity",
        [
          "oneOf": Self.references(to: interface.types.map { "\($0)Entity" }),
          "discriminator": discriminator(among: interface.types),
        ] as JSONValue
      )
    }
    let objects = schema.objects.sorted { $0.key < $1.key }.map { name, fields in
      ("\(name)Object", object(fields))
    }
    return own + interfaces + extended.map { ("\($0.name)Patch", patch($0.parts)) } + objects
  }

  private func entity(_ type: LocalType) -> JSONValue {
    let fields = OpenAPILocalFields(schema: schema, dates: type.dates, form: .read)
    return [
      "type": "object",
      "description": .string(
        "A row of the \(type.scope == .device ? "device" : "user"). A view shows some of the members; lists of entities are "
          + "shown if `include` names them."),
      "properties": .object(
        [
          JSONMember(StoredForm.typenameMember, ["type": "string", "enum": [.string(type.name)]]),
          JSONMember("_rev", ["type": "string"]),
          JSONMember("_pending", ["type": "boolean"]),
        ] + type.fields.map { JSONMember($0.name, fields.schema(of: $0)) }),
    ]
  }

  private func input(_ type: LocalType) -> JSONValue {
    let fields = OpenAPILocalFields(schema: schema, dates: type.dates, form: .written)
    return [
      "type": "object",
      "description": .string(
        type.madeKeyField.map { "Without `\($0)`, POST makes one." }
          ?? "POST requires \(type.keyFields.map { "`\($0)`" }.joined(separator: ", "))."),
      "properties": .object(
        type.fields.map { field in
          var value = fields.schema(of: field)
          if let fallback = field.fallback {
            value["default"] = schema.formatted(fallback, field, dates: type.dates)
          }
          return JSONMember(field.name, value)
        }),
      "required": .array(type.requiredFields.map { .string($0.name) }),
    ]
  }

  private func patch(_ parts: [LocalType]) -> JSONValue {
    let members = parts.flatMap { type in
      let fields = OpenAPILocalFields(schema: schema, dates: type.dates, form: .patched)
      return type.fields.filter { type.extended == nil || !type.keyFields.contains($0.name) }
        .map { JSONMember($0.name, fields.schema(of: $0)) }
    }
    return ["type": "object", "properties": .object(members)]
  }

  private func object(_ fields: [LocalField]) -> JSONValue {
    let forms = OpenAPILocalFields(schema: schema, dates: nil, form: .written)
    return [
      "type": "object",
      "properties": .object(
        [JSONMember(StoredForm.typenameMember, ["type": "string"])]
          + fields.map { JSONMember($0.name, forms.schema(of: $0)) }),
      "required": .array(fields.filter(\.needsValue).map { .string($0.name) }),
    ]
  }
}
