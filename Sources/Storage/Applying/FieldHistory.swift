/// What a merging field was made of, kept while an older call may still arrive and be folded in
/// under what came later.
struct FieldHistory: Equatable {
  struct Layer: Equatable {
    let call: Int64
    /// False: replaces all that lies under it.
    let merges: Bool
    let value: [UInt8]
  }

  /// The value before all layers; nil where the field was absent.
  private(set) var base: [UInt8]?
  /// In the order of their calls.
  private(set) var layers: [Layer]

  init(base: [UInt8]?, layers: [Layer]) {
    self.base = base
    self.layers = layers
  }

  /// The field's value: everything, folded in the order of the calls.
  var folded: [UInt8]? {
    var value = base
    for layer in layers {
      if layer.merges, let earlier = value {
        value = EmbeddedMerge.merge(earlier, layer.value)
      } else {
        value = layer.value
      }
    }
    return value
  }

  var lastCall: Int64 { layers.last?.call ?? 0 }

  mutating func insert(_ layer: Layer) {
    let place = layers.lastIndex { $0.call <= layer.call }.map { $0 + 1 } ?? 0
    layers.insert(layer, at: place)
  }

  /// Everything older than a deletion goes.
  mutating func removeOlder(than call: Int64) {
    base = nil
    layers.removeAll { $0.call < call }
  }

  /// Folds what no arrival can get under any more, and drops what a replacement covers.
  mutating func compact(horizon: Int64) {
    if let replacement = layers.lastIndex(where: { !$0.merges }) {
      base = nil
      layers.removeFirst(replacement)
    }
    let settled = layers.prefix { $0.call <= horizon }
    guard !settled.isEmpty else { return }
    base = FieldHistory(base: base, layers: Array(settled)).folded
    layers.removeFirst(settled.count)
  }

  /// Layers still matter: an older merge could arrive between them.
  var isNeeded: Bool { layers.contains(where: \.merges) }
}
