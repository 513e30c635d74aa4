import GRDB
import Model

/// Loads what a viewer's scopes hold of a stretch of entities: one query a type for contents, and
/// one for change rows where there is more than one scope.
struct ViewLoader {
  private let database: Database
  private let catalogue: TypeCatalogue
  /// Narrowest first.
  private let scopes: [Int64]

  init(_ database: Database, _ catalogue: TypeCatalogue, scopes: [Int64]) {
    self.database = database
    self.catalogue = catalogue
    self.scopes = scopes
  }

  /// By key, for rows of one type.
  func sights(of rows: [ChangeRow], in table: EntityTable) throws -> [ExactText: LayeredView] {
    let empty = [LayeredView.Layer](repeating: LayeredView.Layer(), count: scopes.count)
    var layers: [ExactText: [LayeredView.Layer]] = [:]
    for row in rows where layers[ExactText(row.key)] == nil {
      layers[ExactText(row.key)] = empty
    }
    let keys = try KeyList.json(layers.keys.lazy.map(\.text))
    if scopes.count == 1 {
      for row in rows { layers[ExactText(row.key)]?[0].change = row }
    } else {
      try loadChanges(of: keys, type: table.id, into: &layers)
    }
    // What was deleted need not be looked for; under a narrower scope's rows it must.
    if scopes.count > 1 || rows.contains(where: { $0.kind == .present }) {
      try loadContents(of: keys, in: table, into: &layers)
    }
    return layers.mapValues(LayeredView.init)
  }

  private func loadChanges(
    of keys: [UInt8], type: Int64, into layers: inout [ExactText: [LayeredView.Layer]]
  ) throws {
    let statement = try PreparedStatement(
      database,
      """
      SELECT \(ChangeRow.columns), scope FROM change \
      WHERE scope IN (SELECT value FROM json_each(?1)) AND type = ?2 \
      AND key IN (SELECT value FROM json_each(?3))
      """)
    statement.bind(KeyList.json(numbers: scopes), at: 1)
    statement.bind(type, at: 2)
    statement.bind(keys, at: 3)
    defer { statement.reset() }
    while try statement.step() {
      guard let layer = scopes.firstIndex(of: statement.int64(6)) else { continue }
      let row = ChangeRow(statement)
      layers[ExactText(row.key)]?[layer].change = row
    }
  }

  private func loadContents(
    of keys: [UInt8], in table: EntityTable, into layers: inout [ExactText: [LayeredView.Layer]]
  ) throws {
    let statement: PreparedStatement
    if scopes.count == 1 {
      statement = try PreparedStatement(database, table.readOneScope)
      statement.bind(scopes[0], at: 1)
    } else {
      statement = try PreparedStatement(database, table.readScopes)
      statement.bind(KeyList.json(numbers: scopes), at: 1)
    }
    statement.bind(keys, at: 2)
    defer { statement.reset() }
    while try statement.step() {
      guard let layer = scopes.firstIndex(of: statement.int64(3)) else { continue }
      let fields = statement.bytes(2)
      layers[ExactText(statement.string(0))]?[layer].contents =
        fields.map { .fields($0) } ?? .tombstone
    }
  }
}
