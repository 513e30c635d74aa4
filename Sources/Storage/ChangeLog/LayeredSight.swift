import Model

/// One entity in each of a viewer's scopes, folded to what the viewer sees.
///
/// A tombstone ends the look: what lies under it is neither shown nor told of. An evicted row is
/// there for all that anybody was told, so it is never the reason for a deletion.
struct LayeredSight {
  /// What an entity table holds in one scope.
  enum Contents {
    case none
    case tombstone
    case fields([UInt8])
  }

  struct Layer {
    var change: ChangeRow?
    var contents = Contents.none
  }

  /// Narrowest first.
  private let layers: [Layer]
  /// How many of them are looked at: up to the first tombstone, that one included.
  private let visibleCount: Int

  init(_ layers: [Layer]) {
    self.layers = layers
    let tombstone = layers.firstIndex { if case .tombstone = $0.contents { true } else { false } }
    visibleCount = tombstone.map { $0 + 1 } ?? layers.count
  }

  private var visible: ArraySlice<Layer> { layers[..<visibleCount] }

  /// The last revision that changed what the viewer sees; nil where nothing is told of.
  var revision: Int64? {
    visible.compactMap { $0.change.flatMap { $0.kind == .evicted ? nil : $0.revision } }.max()
  }

  /// The fields of the scopes that hold some, narrowest first.
  var contents: [[UInt8]] {
    visible.compactMap { if case .fields(let fields) = $0.contents { fields } else { nil } }
  }

  /// Nil where the entity is there for all that was told, though nothing of it is stored.
  var reasonGone: ChangePage.Reason? {
    if visible.contains(where: { $0.change?.kind == .evicted }) { return nil }
    let hasMore = layers[visibleCount...].contains {
      if case .fields = $0.contents { true } else { false }
    }
    return hasMore ? .hidden : .deleted
  }

  /// Whether a viewer who had read up to `base` had it.
  ///
  /// The log keeps one row an entity and scope: where a narrower tombstone from before `base` has
  /// been written over since, what it hid counts as seen.
  func wasPresent(at base: Int64) -> Bool {
    for layer in layers {
      guard let change = layer.change else { continue }
      if change.wasPresent(at: base) { return true }
      if case .tombstone = layer.contents, change.revision <= base { return false }
    }
    return false
  }
}
