import LosslessJSON

/// The values that a merging field was folded from, kept while an older call can still arrive and
/// must be folded in below later ones.
struct FieldHistory: Equatable {
  struct Layer: Equatable {
    let call: Int64
    /// Whether it merges with the layers below; if false, it replaces them.
    let merges: Bool
    let value: [UInt8]
  }

  /// The value before all layers; nil if the field was absent.
  private(set) var base: [UInt8]?
  /// The layers in the order of their calls.
  private(set) var layers: [Layer]

  /// The field's value: the base and all layers, folded in the order of the calls.
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

  /// Removes everything older than a deletion.
  mutating func removeOlder(than call: Int64) {
    base = nil
    layers.removeAll { $0.call < call }
  }

  /// Folds the layers that no arrival can precede any more, and drops those that a replacement
  /// covers.
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

  /// Whether the layers still matter: an older merge could arrive between them.
  var isNeeded: Bool { layers.contains(where: \.merges) }
}

/// The `stamps` column: `{"calls":{"title":12,…},"histories":{"poster":[base,[call,merges,value],…]}}`.
///
/// `base` is null where the field was absent, else a one-element array, since null is a value.
struct StampsText {
  private static let calls = "calls"
  private static let histories = "histories"

  private let document: JSONDocument

  init(_ bytes: [UInt8]) throws(JSONParseError) {
    document = try JSONDocument(checked: bytes)
  }

  func call(of field: String) -> Int64? {
    document.root[Self.calls]?[field]?.int64
  }

  func history(of field: String) -> FieldHistory? {
    guard let node = document.root[Self.histories]?[field] else { return nil }
    var elements = node.elements
    let base = elements.next()?[0].map { Array($0.rawBytes) }
    var layers: [FieldHistory.Layer] = []
    while let layer = elements.next() {
      guard let call = layer[0]?.int64, let merges = layer[1]?.bool, let value = layer[2] else {
        continue
      }
      layers.append(.init(call: call, merges: merges, value: Array(value.rawBytes)))
    }
    return FieldHistory(base: base, layers: layers)
  }

  static func encode(_ fields: [RowState.Field], horizon: Int64) -> [UInt8] {
    var writer = JSONWriter()
    writer.beginObject()
    writer.name(calls)
    writer.beginObject()
    for field in fields where field.history == nil {
      writer.name(field.name)
      writer.int(field.call > horizon ? field.call : 0)
    }
    writer.endObject()
    writer.name(histories)
    writer.beginObject()
    for field in fields {
      guard let history = field.history else { continue }
      writer.name(field.name)
      encode(history, &writer)
    }
    writer.endObject()
    writer.endObject()
    return writer.bytes
  }

  private static func encode(_ history: FieldHistory, _ writer: inout JSONWriter) {
    writer.beginArray()
    if let base = history.base {
      writer.beginArray()
      writer.raw(base)
      writer.endArray()
    } else {
      writer.null()
    }
    for layer in history.layers {
      writer.beginArray()
      writer.int(layer.call)
      writer.bool(layer.merges)
      writer.raw(layer.value)
      writer.endArray()
    }
    writer.endArray()
  }
}
