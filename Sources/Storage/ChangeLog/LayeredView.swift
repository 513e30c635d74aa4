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
  /// The viewer's rows of local fields, which add to what is visible.
  private let own: [Layer]
  private let texts: LocalFieldTexts
  /// Whether the first layer is that of optimistic updates.
  private let hasOverlays: Bool

  init(
    _ layers: [Layer], own: [Layer] = [], texts: LocalFieldTexts = LocalFieldTexts(),
    hasOverlays: Bool = false
  ) {
    self.own = own.enumerated().map { owner, layer in
      guard case .fields(let row) = layer.contents else { return layer }
      return Layer(
        change: layer.change, contents: .fields(texts.shown(row, ofOwner: owner)))
    }
    self.texts = texts
    self.hasOverlays = hasOverlays
    self.layers = layers
    let tombstone = layers.firstIndex(where: \.isTombstone)
    visibleCount = tombstone.map { $0 + 1 } ?? layers.count
  }

  private var visible: ArraySlice<Layer> { layers[..<visibleCount] }

  /// The last revision that changed the entity for the viewer; nil if there is nothing to report.
  var revision: Int64? {
    let shown = visible.compactMap { $0.change.flatMap { $0.kind == .evicted ? nil : $0.revision } }
    // Local fields of an entity that was never known, or that the device has deleted, show nowhere.
    guard !own.isEmpty, !isDeletedByOverlay, layers.contains(where: { $0.change != nil }) else {
      return shown.max()
    }
    return (shown + own.compactMap { $0.change?.revision }).max()
  }

  /// The visible fields, narrowest scope first, then the local ones.
  var contents: [[UInt8]] {
    let upstream = visible.compactMap {
      if case .fields(let fields) = $0.contents { fields } else { nil as [UInt8]? }
    }
    let written = own.compactMap {
      if case .fields(let fields) = $0.contents { fields } else { nil as [UInt8]? }
    }
    return contents(upstream, written)
  }

  /// Adds local fields to the visible ones of upstream, if there are any, or if upstream has deleted the
  /// entity.
  private func contents(_ upstream: [[UInt8]], _ own: [[UInt8]]) -> [[UInt8]] {
    if !upstream.isEmpty { return texts.adding(own, to: upstream) }
    return isKept && !own.isEmpty ? texts.kept(own) : []
  }

  private var isDeletedByOverlay: Bool { hasOverlays && layers.first?.isTombstone == true }

  /// Whether the entity is deleted, by upstream.
  private var isKept: Bool { visible.last?.isTombstone == true && !isDeletedByOverlay }

  /// Whether local fields have kept the entity visible, or would have, since a revision.
  private func wasKept(since base: Int64) -> Bool {
    !isDeletedByOverlay && own.contains { $0.change?.wasPresent(at: base) == true }
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
      if base < change.lifted { return wasKept(since: base) }
      if change.wasPresent(at: base) { return true }
      if layer.isTombstone, change.revision <= base { return wasKept(since: base) }
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
  /// - Parameter history: the known state of a layer at that revision; local fields are after the others.
  func state(at base: Int64, history: (_ layer: Int) -> EntityHistoryLoader.State) -> Before {
    guard let own = ownFields(at: base, history) else { return .unknown }
    let shown = { (upstream: [[UInt8]], isDeleted: Bool) -> Before in
      if !upstream.isEmpty { return .fields(texts.adding(own, to: upstream)) }
      return isDeleted && !own.isEmpty ? .fields(texts.kept(own)) : .absent
    }
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
          return shown(fields, !(index == 0 && hasOverlays))
        }
      }
    }
    return shown(fields, false)
  }

  /// Returns the rows of local fields at an earlier revision; nil if they are not known.
  private func ownFields(
    at base: Int64, _ history: (_ layer: Int) -> EntityHistoryLoader.State
  ) -> [[UInt8]]? {
    var found: [[UInt8]] = []
    for (index, layer) in own.enumerated() {
      guard let change = layer.change else { continue }
      switch history(layers.count + index) {
      case .unknown: return nil
      case .fields(let old): found.append(texts.shown(old, ofOwner: index))
      case .unchanged:
        guard change.wasPresent(at: base) else { continue }
        guard case .fields(let same) = layer.contents else { return nil }
        found.append(same)
      }
    }
    return found
  }
}

/// Loads the rows of a viewer's scopes for a section of the log: one query per type for contents,
/// and one for change rows if there is more than one scope.
struct ViewLoader {
  private let database: Database
  private let catalogue: TypeCatalogue
  private let scopes: ViewerScopes

  init(_ database: Database, _ catalogue: TypeCatalogue, scopes: ViewerScopes) {
    self.database = database
    self.catalogue = catalogue
    self.scopes = scopes
  }

  /// Returns the views by key, for entities of one type.
  func views(ofKeys keys: [ExactText], in table: EntityTable) throws -> [ExactText: LayeredView] {
    try views(of: Set(keys), in: table, changes: nil)
  }

  /// Returns the views by key, for rows of one type.
  func views(of rows: [ChangeRow], in table: EntityTable) throws -> [ExactText: LayeredView] {
    let isPlain = scopes.all.count == 1 && scopes.layers(of: table).count == 1
    return try views(
      of: Set(rows.lazy.map { ExactText($0.key) }), in: table, changes: isPlain ? rows : nil)
  }

  /// - Parameter changes: the rows of the log, if the viewer has one scope only; nil to read them.
  private func views(
    of wanted: Set<ExactText>, in table: EntityTable, changes: [ChangeRow]?
  ) throws -> [ExactText: LayeredView] {
    guard !wanted.isEmpty else { return [:] }
    let ids = scopes.ids(of: table)
    let all = scopes.layers(of: table)
    let empty = [LayeredView.Layer](repeating: LayeredView.Layer(), count: all.count)
    var layers = Dictionary(uniqueKeysWithValues: wanted.map { ($0, empty) })
    let keys = try KeyList.json(layers.keys.lazy.map(\.text))
    if let changes {
      for row in changes { layers[ExactText(row.key)]?[0].change = row }
    } else {
      try loadChanges(of: keys, type: table.id, all, into: &layers)
    }
    // Deleted entities need no look-up; below a narrower scope's rows they do.
    if changes?.contains(where: { $0.kind == .present }) ?? true {
      try loadContents(of: keys, in: table, all, into: &layers)
    }
    let texts = LocalFieldTexts(scopes.localFields(of: table), keyFields: table.keyFields)
    let hasOverlays = scopes.isOverlay(ids.first)
    return layers.mapValues { layers in
      LayeredView(
        Array(layers.prefix(ids.count)), own: Array(layers.dropFirst(ids.count)), texts: texts,
        hasOverlays: hasOverlays)
    }
  }

  private func loadChanges(
    of keys: [UInt8], type: Int64, _ scopes: [Int64],
    into layers: inout [ExactText: [LayeredView.Layer]]
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
    of keys: [UInt8], in table: EntityTable, _ scopes: [Int64],
    into layers: inout [ExactText: [LayeredView.Layer]]
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
