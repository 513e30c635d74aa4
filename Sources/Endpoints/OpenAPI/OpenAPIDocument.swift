import Gateway
import LosslessJSON
import Model

/// `/openapi.json`: OpenAPI 3.1, the template and the paths and schemas of the operations.
///
/// The template, `openapi.yaml`, is a document without these. Its member `x-larder-operation` has
/// what the paths of all operations have in common; no member `x-larder-…` is served. Responses with problems
/// are added by ``OpenAPIProblems``, schemas of local types by ``OpenAPILocalTypes``.
struct OpenAPIDocument {
  let template: JSONValue
  let operations: [OperationDescription]
  let version: String
  var local = LocalSchema.none
  var schemas = OpenAPISchemas()
  var examples = PublicExamples.Found()
  /// Whether all paths of each operation are listed, and those of the S3 dialect; otherwise one of each operation,
  /// its `@route` if there is one.
  var isFull = false

  /// The prefix of the template's members that are not served.
  private static let ownPrefix = "x-larder-"
  /// Of a path that is listed only in the full document.
  private static let fullMember = "x-larder-full"

  func value() -> JSONValue {
    var document = JSONValue.object(
      (template.members ?? []).filter { !$0.name.hasPrefix(Self.ownPrefix) })
    document["info"]?["version"] = .string(version)
    document["components"]?["schemas"] = .object(
      (template["components"]?["schemas"]?.members ?? []) + schemas.components)
    for (type, example) in examples.entities {
      guard let component = schemas.entities[type] else { continue }
      document["components"]?["schemas"]?[component]?["examples"] = [example]
    }
    setEntities(in: &document)
    let own = (template["paths"]?.members ?? []).filter {
      isFull || $0.value[Self.fullMember] == nil
    }
    var problems = OpenAPIProblems()
    document["paths"] = .object(
      (operationPaths + own).map { path in
        let members = (path.value.members ?? []).filter { $0.name != Self.fullMember }
        return JSONMember(path.name, .object(members.map { problems.completed($0) }))
      })
    problems.addComponents(to: &document)
    if !local.isEmpty { OpenAPILocalTypes(schema: local).add(to: &document) }
    return document
  }

  private var operationPaths: [JSONMember] {
    var ids = OpenAPIOperationIDs(template: template)
    return operations.flatMap { operation in
      OpenAPIOperationPaths(
        operation: operation, id: ids.id(of: operation), common: template["x-larder-operation"],
        schemas: schemas, example: examples.responses[operation.name], isFull: isFull
      ).members
    }
  }

  /// Makes `AnyEntity` one of the entity types, where any are known.
  private func setEntities(in document: inout JSONValue) {
    let own = local.types.keys.map { (type: $0, component: "\($0)Entity") }
    let entities = (schemas.entities.map { (type: $0.key, component: $0.value) } + own)
      .sorted { $0.type < $1.type }
    guard !entities.isEmpty else { return }
    // A view shows no type's name, so that an entity can match several schemas.
    document["components"]?["schemas"]?["AnyEntity"] = [
      "anyOf": .array(
        entities.map { ["$ref": .string("#/components/schemas/\($0.component)")] }
          + [["$ref": "#/components/schemas/Entity"]]),
      "discriminator": [
        "propertyName": .string(StoredForm.typenameMember),
        "mapping": .object(
          entities.map {
            JSONMember($0.type, .string("#/components/schemas/\($0.component)"))
          }),
      ],
    ]
  }
}

/// Gives each operation an `operationId`, different from all others also without regard to case: generators of
/// clients change it.
struct OpenAPIOperationIDs {
  /// What stands after an operation's id in the ids of its paths and methods.
  static let suffixes = [
    "", "Post", "Diff", "DiffPost", "Stream", "ByName", "ByNamePost", "ByNameDiff",
    "ByNameDiffPost", "ByNameStream",
  ]

  private var taken: Set<String> = []

  init(template: JSONValue) {
    for path in template["paths"]?.members ?? [] {
      for method in path.value.members ?? [] {
        if let id = method.value["operationId"]?.string { taken.insert(id.lowercased()) }
      }
    }
  }

  /// The operation's name, followed by `Operation` where another id is the same.
  mutating func id(of operation: OperationDescription) -> String {
    var id = operation.name
    while Self.suffixes.contains(where: { taken.contains("\(id)\($0)".lowercased()) }) {
      id += "Operation"
    }
    taken.formUnion(Self.suffixes.map { "\(id)\($0)".lowercased() })
    return id
  }
}
