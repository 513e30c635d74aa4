import Filtering
import LosslessJSON
import Model

@testable import Storage

/// Lists with items, tags on items, and an optional sheet for each list.
enum LocalWorld {
  static func field(
    _ name: String, _ kind: LocalField.Kind, required: Bool = false, many: Bool = false,
    fallback: JSONValue? = nil, formerName: String? = nil
  ) -> LocalField {
    LocalField(
      name: name, formerName: formerName, kind: kind, nonNull: many ? [true, true] : [required],
      fallback: fallback)
  }

  static func relation(
    _ name: String, _ type: String, _ inverse: String, _ rule: LocalField.DeleteRule = .nullify,
    required: Bool = false, many: Bool = false
  ) -> LocalField {
    field(
      name, .entity(type, LocalField.Inverse(field: inverse, onDelete: rule)), required: required,
      many: many)
  }

  static let id = field("id", .scalar(.id), required: true)

  static let list = LocalType(
    name: "List", scope: .device,
    fields: [
      id, field("title", .scalar(.string), required: true),
      field("count", .scalar(.int), fallback: 0),
      relation("items", "Item", "list", .cascade, many: true),
      relation("sheet", "Sheet", "list", .deny),
    ])

  static let item = LocalType(
    name: "Item", scope: .device,
    fields: [
      id, field("text", .scalar(.string)),
      relation("list", "List", "items", required: true),
      relation("tags", "Tag", "items", many: true),
    ])

  static let tag = LocalType(
    name: "Tag", scope: .device, fields: [id, relation("items", "Item", "tags", many: true)])

  static let sheet = LocalType(
    name: "Sheet", scope: .device, fields: [id, relation("list", "List", "sheet")])

  static let schema = LocalSchema(
    types: Dictionary(uniqueKeysWithValues: [list, item, tag, sheet].map { ($0.name, $0) }),
    objects: [:], enums: [:])

  static let owner = LocalOwner(device: .device("d_1"), user: nil)
  static let viewer = Viewer(layers: [.device("d_1"), .public])

  static func open(
    _ folder: TemporaryFolder, _ schema: LocalSchema = schema, segment: UInt64 = 1
  ) throws(StorageError) -> Store {
    var configuration = StoreConfiguration(
      folder: folder.path, segment: segment, opened: Timestamp(milliseconds: 0))
    configuration.local = schema
    return try Store.open(configuration, types: schema.types.values.map(\.entityType))
  }

  /// An operation with a valid body.
  static func operation(
    _ action: WriteAction, _ type: LocalType, _ id: String, _ body: JSONValue = [:],
    schema: LocalSchema = schema
  ) -> LocalOperation {
    var reader = LocalValueReader(schema: schema)
    let read = LocalBody(
      body, type: type, isPatch: action.isPatch, reader: &reader,
      pointer: "")
    return LocalOperation(action, type, .key(id), body: read)
  }
}

extension Store {
  func local(
    _ operations: LocalOperation..., schema: LocalSchema = LocalWorld.schema,
    owner: LocalOwner = LocalWorld.owner
  ) async throws -> Result<WriteCommit, WriteRefusal> {
    try await registerDevice(of: owner)
    return try await writeLocal(
      operations, schema: schema, owner: owner, now: Timestamp(milliseconds: 1))
  }

  /// Registers a writer's device unless it is registered.
  func registerDevice(of owner: LocalOwner = LocalWorld.owner) async throws {
    guard let id = owner.device?.subject else { return }
    let phone = DeviceTests.phone(id)
    try await writer.write { database, _ in
      let table = DeviceTable(database: database)
      if try !table.exists(id) { try table.insert(phone, tokenDigest: "token of \(id)") }
    }
  }

  /// An entity's fields as its device sees them.
  func local(_ type: String, _ id: String) async throws -> JSONValue? {
    let record = try await entity(EntityKey(type: type, key: id), viewer: LocalWorld.viewer)
    guard let record, !record.isDeleted, let layer = record.layers.first else { return nil }
    return try JSONValue(parsing: layer)
  }

  func targets(_ type: String, _ id: String, _ field: String) async throws -> [String] {
    guard let value = try await local(type, id)?[field] else { return [] }
    return (value.array ?? [value]).compactMap { $0.referencedKey?.key }
  }
}
