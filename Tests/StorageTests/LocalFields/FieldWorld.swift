import Filtering
import LosslessJSON
import Model

@testable import Storage

/// Films of upstream with local fields: `favourite`, `stars` and `lists` of a device, `note` of a user.
struct FieldWorld {
  static let devicePart = LocalType(
    name: "Film@device", scope: .device,
    fields: [
      LocalWorld.field("favourite", .scalar(.boolean), fallback: false),
      LocalWorld.field("stars", .scalar(.int)),
      LocalWorld.relation("lists", "MyList", "films", many: true),
    ]
  ).extending("Film").with(indexes: [], search: [], dates: .iso8601)

  static let userPart = LocalType(
    name: "Film@user", scope: .user, fields: [LocalWorld.field("note", .scalar(.string))]
  ).extending("Film").with(indexes: [], search: ["note"], dates: .iso8601)

  static let list = LocalType(
    name: "MyList", scope: .device,
    fields: [
      LocalWorld.id, LocalWorld.field("title", .scalar(.string)),
      LocalWorld.relation("films", "Film", "lists", many: true),
    ])

  static let schema = schema(devicePart)

  static func schema(
    _ part: LocalType, user: LocalType = userPart, list: LocalType = list
  ) -> LocalSchema {
    LocalSchema(
      types: ["MyList": list], objects: [:], enums: [:], extensions: ["Film": [part, user]])
  }

  /// What operations select.
  private static let base = EntityType(
    name: "Film", keyFields: ["id"], columns: StoreFixture.types[0].columns,
    indexes: ["year", "favourite"], search: ["title"])

  static let film = film(devicePart)

  static func film(_ part: LocalType, user: LocalType = userPart) -> EntityType {
    base.adding([part, user])
  }

  static let types = [film, StoreFixture.types[1], list.entityType]

  let folder: TemporaryFolder
  let store: Store

  /// - Parameters:
  ///   - part: the device's local fields, instead of ``devicePart``.
  ///   - user: the user's, instead of ``userPart``.
  ///   - list: the type of lists, instead of ``list``.
  ///   - film: the whole type, if operations select it with other columns.
  init(
    _ folder: TemporaryFolder = TemporaryFolder(), segment: UInt64 = 1,
    part: LocalType = devicePart, user: LocalType = userPart, list: LocalType = list,
    film: EntityType? = nil
  ) throws {
    self.folder = folder
    var configuration = StoreConfiguration(
      folder: folder.path, segment: segment, opened: Timestamp(milliseconds: 0))
    configuration.local = Self.schema(part, user: user, list: list)
    store = try Store.open(
      configuration,
      types: [film ?? Self.film(part, user: user), StoreFixture.types[1], list.entityType])
  }

  // MARK: Owners

  static func device(_ id: String) -> LocalOwner {
    LocalOwner(device: .ownData(ofDevice: id), user: nil)
  }

  static func viewer(_ device: String, user: String? = nil, upstream: [Scope] = []) -> Viewer {
    Viewer(
      layers: [.ownData(ofDevice: device)] + (user.map { [.ownData(ofUser: $0)] } ?? [])
        + upstream + [.public])
  }

  /// A store with three films.
  static func withFilms() async throws -> FieldWorld {
    let world = try FieldWorld()
    for (number, title) in ["Alien", "Brazil", "Casablanca"].enumerated() {
      _ = try await world.fetch(
        Int64(number + 1), "\(number + 1)",
        ["title": .string(title), "year": .number(JSONNumber(1940 + number))])
    }
    return world
  }

  // MARK: Writes

  func write(
    _ film: String, _ body: JSONValue, by device: String = "d_1", user: String? = nil,
    quota: DataQuota = .unlimited, schema: LocalSchema = schema
  ) async throws -> Result<WriteCommit, WriteRefusal> {
    guard let type = schema.allFields(of: "Film") else { throw StorageError.tooCostly }
    var reader = LocalValueReader(schema: schema)
    let read = LocalBody(body, type: type, isPatch: true, reader: &reader, pointer: "")
    let owner = LocalOwner(
      device: .ownData(ofDevice: device), user: user.map { .ownData(ofUser: $0) })
    try await store.registerDevice(of: owner)
    return try await store.writeLocal(
      [LocalOperation(.update, type, .key(film), body: read)], schema: schema, owner: owner,
      viewer: Self.viewer(device, user: user), now: Timestamp(milliseconds: 1), quota: quota)
  }

  /// Writes local fields of all films that a device sees and that match a filter, after other operations.
  func write(
    where filter: String, _ body: JSONValue, after operations: [LocalOperation] = [],
    by device: String = "d_1", user: String? = nil, upstream: [Scope] = []
  ) async throws -> Result<WriteCommit, WriteRefusal> {
    let owner = LocalOwner(
      device: .ownData(ofDevice: device), user: user.map { .ownData(ofUser: $0) })
    try await store.registerDevice(of: owner)
    return try await store.writeLocal(
      operations + [try Self.operation(where: filter, body)], schema: Self.schema, owner: owner,
      viewer: Self.viewer(device, user: user, upstream: upstream),
      now: Timestamp(milliseconds: 1))
  }

  /// A write of local fields to all films that match a filter, or to the one with a key.
  static func operation(
    where filter: String? = nil, key: String = "", _ body: JSONValue
  ) throws -> LocalOperation {
    guard let type = schema.allFields(of: "Film") else { throw StorageError.tooCostly }
    var reader = LocalValueReader(schema: schema)
    let read = LocalBody(body, type: type, isPatch: true, reader: &reader, pointer: "")
    var target = WriteTarget.key(key)
    if let filter {
      target = .filter(
        try Filter(filter, arguments: .none, type: film, graph: graph(of: film)))
    }
    return LocalOperation(.update, type, target, filtered: film, body: read)
  }

  func writeList(
    _ action: WriteAction, _ id: String, _ body: JSONValue = [:], by device: String = "d_1",
    schema: LocalSchema = schema
  ) async throws -> Result<WriteCommit, WriteRefusal> {
    try await store.local(
      LocalWorld.operation(action, Self.list, id, body, schema: schema),
      schema: schema, owner: Self.device(device))
  }

  func fetch(_ call: Int64, _ film: String, _ fields: JSONValue) async throws -> CommitReport {
    try await store.apply(ResponseBuilder(call: call).film(film, fields).build())
  }

  func delete(_ call: Int64, _ film: String, scope: Scope = .public) async throws {
    _ = try await store.apply(
      ResponseBuilder(call: call, scope: scope, received: Timestamp(milliseconds: 0))
        .deleting(.film(film)).build())
  }

  // MARK: Reads

  static func graph(of film: EntityType) -> EntityGraph {
    EntityGraph(
      types: [film] + types.dropFirst(),
      relationships: [
        "MyList": ["films": .toMany("Film")],
        "Film": ["lists": .toMany("MyList"), "director": .toOne("Person")],
      ])
  }

  /// The fields that a viewer sees; nil if it does not see the entity.
  func seen(_ film: String, by viewer: Viewer) async throws -> JSONValue? {
    let record = try await store.entity(.film(film), viewer: viewer)
    guard let record, !record.isDeleted else { return nil }
    return try Self.united(record)
  }

  static func united(_ record: EntityRecord) throws -> JSONValue {
    var united: JSONValue = [:]
    for layer in record.layers.reversed() {
      for member in try JSONValue(parsing: layer).members ?? [] {
        united[member.name] = member.value
      }
    }
    return united
  }

  func films(
    _ filter: String? = nil, order: String? = nil, of film: EntityType = film, by viewer: Viewer
  ) async throws -> [String] {
    let graph = Self.graph(of: film)
    var query = EntityQuery(type: film, limit: 1_000)
    query.filter = try filter.map {
      try Filter($0, arguments: .none, type: film, graph: graph)
    }
    if let order { query.order = try EntityOrder(order, type: film, graph: graph) }
    return try await store.page(query, viewer: viewer).items.map(\.key.key)
  }

  /// Evicts everything that can be evicted.
  func evict(
    day: Int64, bytesMax: Int = 0, keepLocal: [String: Duration] = [:]
  ) async throws -> EvictionReport {
    let policy = EvictionPolicy(windows: [:], bytesMax: bytesMax, keepLocal: keepLocal)
    var total = EvictionReport()
    var hasMore = true
    while hasMore {
      let report = try await store.evict(
        policy, at: Timestamp(milliseconds: day * 24 * 3_600_000))
      total.entities += report.entities
      total.tombstones += report.tombstones
      total.changes += report.changes
      hasMore = report.hasMore
    }
    return total
  }
}
