import GRDB
import Model

/// One entity in each of a viewer's scopes, folded to what the viewer sees.
///
/// A tombstone hides the layers below it: they are neither shown nor reported. An evicted row
/// exists as far as clients know, so it is never the reason for a deletion.
struct LayeredView {
  /// The contents of an entity table in one scope.
  enum Contents {
    case none
    case tombstone
    case fields([UInt8])
  }

  struct Layer {
    var change: ChangeRow?
    var contents = Contents.none

    var isTombstone: Bool {
      if case .tombstone = contents { true } else { false }
    }
  }

  /// Narrowest first.
  private let layers: [Layer]
  /// The number of visible layers: up to and including the first tombstone.
  private let visibleCount: Int

  init(_ layers: [Layer]) {
    self.layers = layers
    let tombstone = layers.firstIndex(where: \.isTombstone)
    visibleCount = tombstone.map { $0 + 1 } ?? layers.count
  }

  private var visible: ArraySlice<Layer> { layers[..<visibleCount] }

  /// The last revision that changed the entity for the viewer; nil if there is nothing to report.
  var revision: Int64? {
    visible.compactMap { $0.change.flatMap { $0.kind == .evicted ? nil : $0.revision } }.max()
  }

  /// The visible fields, narrowest scope first.
  var contents: [[UInt8]] {
    visible.compactMap { if case .fields(let fields) = $0.contents { fields } else { nil } }
  }

  /// The reason the entity is gone; nil if it exists as far as clients know, though nothing is
  /// stored.
  var reasonGone: ChangePage.Reason? {
    if visible.contains(where: { $0.change?.kind == .evicted }) { return nil }
    let hasMore = layers[visibleCount...].contains {
      if case .fields = $0.contents { true } else { false }
    }
    return hasMore ? .hidden : .deleted
  }

  /// Whether a viewer who had read up to `base` had the entity, and has had it ever since.
  func wasPresent(at base: Int64) -> Bool {
    for layer in layers {
      guard let change = layer.change else { continue }
      // Hidden then, or in between: the rows that show now were lifted later.
      if base < change.lifted { return false }
      if change.wasPresent(at: base) { return true }
      if layer.isTombstone, change.revision <= base { return false }
    }
    return false
  }

  /// The state for a viewer at an earlier revision.
  enum Before {
    case absent
    case unknown
    /// The fields, in the form of ``contents``.
    case fields([[UInt8]])
  }

  /// Returns the state at an earlier revision.
  ///
  /// - Parameter history: the known state of a layer at that revision.
  func state(at base: Int64, history: (_ layer: Int) -> EntityHistoryLoader.State) -> Before {
    var fields: [[UInt8]] = []
    for (index, layer) in layers.enumerated() {
      guard let change = layer.change else { continue }
      switch history(index) {
      case .unknown: return .unknown
      case .fields(let old): fields.append(old)
      case .unchanged:
        // A removed tombstone can have hidden the layers below at that revision, or not.
        if base < change.lifted { return .unknown }
        if change.wasPresent(at: base) {
          guard case .fields(let same) = layer.contents else { return .unknown }
          fields.append(same)
        } else if layer.isTombstone, change.revision <= base {
          return fields.isEmpty ? .absent : .fields(fields)
        }
      }
    }
    return fields.isEmpty ? .absent : .fields(fields)
  }
}

/// Loads the rows of a viewer's scopes for a section of the log: one query per type for contents,
/// and one for change rows if there is more than one scope.
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

  /// Returns the views by key, for entities of one type.
  func views(ofKeys wanted: [ExactText], in table: EntityTable) throws -> [ExactText: LayeredView] {
    guard !wanted.isEmpty else { return [:] }
    let empty = [LayeredView.Layer](repeating: LayeredView.Layer(), count: scopes.count)
    var layers = Dictionary(
      wanted.map { ($0, empty) }, uniquingKeysWith: { first, _ in first })
    let keys = try KeyList.json(layers.keys.lazy.map(\.text))
    try loadChanges(of: keys, type: table.id, into: &layers)
    try loadContents(of: keys, in: table, into: &layers)
    return layers.mapValues(LayeredView.init)
  }

  /// Returns the views by key, for rows of one type.
  func views(of rows: [ChangeRow], in table: EntityTable) throws -> [ExactText: LayeredView] {
    guard !rows.isEmpty else { return [:] }
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
    // Deleted entities need no look-up; below a narrower scope's rows they do.
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
