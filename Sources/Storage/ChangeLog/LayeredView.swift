import Model

/// One entity in each of a viewer's scopes, folded to what the viewer sees.
///
/// A tombstone ends the look: what lies under it is neither shown nor told of. An evicted row is
/// there for all that anybody was told, so it is never the reason for a deletion.
struct LayeredView {
  /// What an entity table holds in one scope.
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
  /// How many of them are looked at: up to the first tombstone, that one included.
  private let visibleCount: Int

  init(_ layers: [Layer]) {
    self.layers = layers
    let tombstone = layers.firstIndex(where: \.isTombstone)
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

  /// Whether a viewer who had read up to `base` had it, and has had it ever since.
  func wasPresent(at base: Int64) -> Bool {
    for layer in layers {
      guard let change = layer.change else { continue }
      // Hidden then, or in between: what shows now came later.
      if base < change.lifted { return false }
      if change.wasPresent(at: base) { return true }
      if layer.isTombstone, change.revision <= base { return false }
    }
    return false
  }

  /// What a viewer saw at an earlier revision.
  enum Before {
    case absent
    case unknown
    /// As ``contents``.
    case fields([[UInt8]])
  }

  /// - Parameter past: what is known of what a layer held then.
  func state(at base: Int64, past: (_ layer: Int) -> EntityHistoryLoader.State) -> Before {
    var fields: [[UInt8]] = []
    for (index, layer) in layers.enumerated() {
      guard let change = layer.change else { continue }
      switch past(index) {
      case .unknown: return .unknown
      case .fields(let old): fields.append(old)
      case .unchanged:
        // A tombstone that is gone may have stood there, and hidden what lay under it, or not.
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
