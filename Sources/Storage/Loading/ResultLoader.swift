import GRDB
import LosslessJSON
import Model

/// Reads a result and, level by level, every entity its selection reaches: one query per type and
/// level, all inside the caller's read transaction.
struct ResultLoader {
  private let database: Database
  private let catalogue: TypeCatalogue
  private let directory: ScopeDirectory
  private let touches: TouchLedger

  init(
    _ database: Database, _ catalogue: TypeCatalogue, _ directory: ScopeDirectory,
    _ touches: TouchLedger
  ) {
    self.database = database
    self.catalogue = catalogue
    self.directory = directory
    self.touches = touches
  }

  func load(
    _ key: ResultKey, selection: FieldSelection, viewer: Viewer
  ) throws -> ResultSnapshot? {
    guard let row = try ResultRow.find(key, database, directory) else { return nil }
    let root: JSONDocument
    do throws(JSONParseError) {
      root = try JSONDocument(checked: row.fields)
    } catch {
      throw StorageError.corrupt("a stored result is not valid JSON: \(error)")
    }
    var walk = ReferenceWalk()
    walk.follow(root.root, selection)
    var reached = Reached()
    try follow(&walk, scopes: try scopes(of: viewer), &reached)
    let due = max(row.due, reached.due, try lastPurge(of: reached.missing, scope: row.scope))
    return ResultSnapshot(
      key: key, call: CallNumber(row.call), received: row.received, root: row.fields,
      errors: row.errors, isDue: row.errors != nil || due > row.call,
      entities: reached.entities, revision: Revision(try Self.revision(database)))
  }

  /// Returns a response that is not to be stored as a viewer would see it if it were: its own
  /// entities below the overlays of the viewer's device, and everything that these lead to.
  func load(
    passing response: NormalisedResponse, selection: FieldSelection, viewer: Viewer
  ) throws -> ResultSnapshot? {
    guard let result = response.result else { return nil }
    let text = response.object(of: result.root)
    let root: JSONDocument
    do throws(JSONParseError) {
      root = try JSONDocument(checked: text)
    } catch {
      throw StorageError.corrupt("the root of a response is not valid JSON: \(error)")
    }
    var walk = ReferenceWalk()
    walk.follow(root.root, selection)
    var reached = Reached(response)
    let overlays = Viewer(layers: viewer.layers.filter { $0.kind == .device })
    reached.overlays = try scopes(of: overlays)
    try follow(&walk, scopes: try scopes(of: viewer), &reached)
    return ResultSnapshot(
      key: result.key, call: response.call, received: response.received, root: text,
      errors: result.errors, isDue: false, entities: reached.entities,
      revision: Revision(try Self.revision(database)))
  }

  /// Returns a result that was not stored, of the entities that its root refers to.
  ///
  /// - Parameter text: the root fields, see ``Model/ResultSnapshot/root``.
  func load(
    root text: [UInt8], of key: ResultKey, selection: FieldSelection, viewer: Viewer
  ) throws -> ResultSnapshot {
    let root: JSONDocument
    do throws(JSONParseError) {
      root = try JSONDocument(checked: text)
    } catch {
      throw StorageError.corrupt("the root of a result is not valid JSON: \(error)")
    }
    var walk = ReferenceWalk()
    walk.follow(root.root, selection)
    var reached = Reached()
    try follow(&walk, scopes: try scopes(of: viewer), &reached)
    let received = reached.entities.values.compactMap(\.received?.milliseconds).min()
    return ResultSnapshot(
      key: key, call: CallNumber(0), received: Timestamp(milliseconds: received ?? 0), root: text,
      errors: nil, isDue: true, entities: reached.entities,
      revision: Revision(try Self.revision(database)))
  }

  func load(_ key: EntityKey, viewer: Viewer) throws -> EntityRecord? {
    guard let table = catalogue[key.type] else { return nil }
    let scopes = try ViewerScopes(viewer, catalogue) { try directory.id(of: $0, database) }
    let loader = EntityLoader(database, scopes: scopes, touches)
    return try loader.load(key.key, from: table)?.record
  }

  static func revision(_ db: Database) throws -> Int64 {
    let statement = try PreparedStatement(db, "SELECT revision FROM counter WHERE id = 1")
    defer { statement.reset() }
    return try statement.step() ? statement.int64(0) : 0
  }

  /// Returns the viewer's scopes that exist. Operations select no local fields.
  private func scopes(of viewer: Viewer) throws -> ViewerScopes {
    try ViewerScopes(viewer, catalogue) { try directory.id(of: $0, database) }.withoutLocalFields
  }

  // MARK: Level by level

  private struct Reached {
    var entities: [EntityKey: EntityRecord] = [:]
    /// Documents parsed once, however many selections reach them.
    var documents: [EntityKey: [JSONDocument]] = [:]
    var missing: [EntityKey] = []
    var due: Int64 = 0
    /// The fields of the entities of a response that is not stored.
    var given: [EntityKey: [UInt8]] = [:]
    /// Numbers of the scopes that overlay the given entities.
    var overlays = ViewerScopes([])

    init() {}

    init(_ response: NormalisedResponse) {
      for entity in response.entities { given[entity.key] = response.object(of: entity.fields) }
    }
  }

  private func follow(
    _ walk: inout ReferenceWalk, scopes: ViewerScopes, _ reached: inout Reached
  ) throws {
    let loader = EntityLoader(database, scopes: scopes, touches)
    while !walk.frontier.isEmpty {
      for (type, wanted) in walk.takeFrontier() {
        guard let table = catalogue[type] else { continue }
        let unread = wanted.keys.map(\.text).filter {
          reached.entities[EntityKey(type: type, key: $0)] == nil
        }
        let loaded = try loader.load(unread, from: table)
        let overlaid =
          reached.given.isEmpty
          ? []
          : try EntityLoader(database, scopes: reached.overlays, touches)
            .load(unread, from: table)
        for (index, key) in unread.enumerated() {
          let entity = EntityKey(type: type, key: key)
          if let given = reached.given[entity] {
            reached.entities[entity] = Self.overlay(overlaid[index]?.record, over: given)
            continue
          }
          guard let found = loaded[index] else {
            reached.missing.append(entity)
            continue
          }
          reached.entities[entity] = found.record
          reached.due = max(reached.due, found.due)
        }
        for (key, selections) in wanted {
          let entity = EntityKey(type: type, key: key.text)
          for selection in selections where selection.hasObjects {
            walk.follow(try Self.documents(of: entity, &reached).map(\.root), selection)
          }
        }
      }
    }
  }

  private static func overlay(_ overlay: EntityRecord?, over fields: [UInt8]) -> EntityRecord {
    guard let overlay else { return EntityRecord(layers: [fields]) }
    return overlay.isDeleted ? overlay : EntityRecord(layers: overlay.layers + [fields])
  }

  private static func documents(
    of key: EntityKey, _ reached: inout Reached
  ) throws(StorageError) -> [JSONDocument] {
    if let known = reached.documents[key] { return known }
    guard let record = reached.entities[key] else { return [] }
    do throws(JSONParseError) {
      var documents: [JSONDocument] = []
      for layer in record.layers { documents.append(try JSONDocument(checked: layer)) }
      reached.documents[key] = documents
      return documents
    } catch {
      throw .corrupt("a stored entity is not valid JSON: \(error)")
    }
  }

  /// Returns the call of the last purge of the missing entities: a dangling reference makes the
  /// result due if its entity was purged.
  private func lastPurge(of missing: [EntityKey], scope: Int64) throws -> Int64 {
    guard !missing.isEmpty else { return 0 }
    let statement = try PreparedStatement(
      database,
      """
      SELECT coalesce(max(call), 0) FROM invalidation WHERE kind = ?1 \
      AND name IN (SELECT value FROM json_each(?2)) AND scope IN (?3, ?4, ?5)
      """)
    statement.bind(DependencyKind.entity.rawValue, at: 1)
    try statement.bind(KeyList.json(missing.lazy.map(DependencyKind.name(of:))), at: 2)
    statement.bind(scope, at: 3)
    statement.bind(ScopeTable.publicID, at: 4)
    statement.bind(ScopeTable.everyID, at: 5)
    defer { statement.reset() }
    return try statement.step() ? statement.int64(0) : 0
  }
}

extension NormalisedResponse {
  fileprivate func object(of fields: [Field]) -> [UInt8] {
    var writer = JSONWriter()
    writer.beginObject()
    bytes.withUnsafeBufferPointer { bytes in
      for field in fields {
        writer.name(field.name)
        writer.raw(UnsafeBufferPointer(rebasing: bytes[field.range]))
      }
    }
    writer.endObject()
    return writer.bytes
  }
}

/// A row of `result` as readers see it.
struct ResultRow {
  let id: Int64
  let scope: Int64
  let call: Int64
  let received: Timestamp
  let errors: [UInt8]?
  let fields: [UInt8]
  let dependencies: [UInt8]
  /// The call of the last invalidation of its operation, or of a type, tag or list it depends on; 0
  /// for none.
  let due: Int64

  static func find(
    _ key: ResultKey, _ db: Database, _ directory: ScopeDirectory
  ) throws -> ResultRow? {
    guard let scope = try directory.id(of: key.scope, db) else { return nil }
    let statement = try PreparedStatement(
      db,
      """
      SELECT id, call, received, errors, fields, dependencies, max( \
      (SELECT coalesce(max(call), 0) FROM invalidation \
      WHERE kind = \(DependencyKind.operation.rawValue) AND name = ?2 AND scope IN (?1, ?4, ?5)), \
      (SELECT coalesce(max(invalidation.call), 0) FROM dependency CROSS JOIN invalidation \
      ON invalidation.kind = dependency.kind AND invalidation.name = dependency.name \
      AND invalidation.scope IN (?1, ?4, ?5) WHERE dependency.result = result.id)) \
      FROM result WHERE scope = ?1 AND operation = ?2 AND variables = ?3
      """)
    statement.bind(scope, at: 1)
    statement.bind(key.operation, at: 2)
    statement.bind(key.variables, at: 3)
    statement.bind(ScopeTable.everyID, at: 4)
    statement.bind(key.scope.kind.isShared ? ScopeTable.sharedID : scope, at: 5)
    defer { statement.reset() }
    guard try statement.step() else { return nil }
    return ResultRow(
      id: statement.int64(0), scope: scope, call: statement.int64(1),
      received: Timestamp(milliseconds: statement.int64(2)), errors: statement.bytes(3),
      fields: statement.bytes(4) ?? [], dependencies: statement.bytes(5) ?? [],
      due: statement.int64(6))
  }
}
