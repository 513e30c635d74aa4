import LosslessJSON
import Model

/// The objects of a result in one buffer, each indexed at most once.
struct StoredObjects {
  private struct Member {
    let name: Range<Int>
    let value: Range<Int>
  }

  /// One JSON object; its members are known once it was opened.
  private struct Layer {
    let start: Int
    /// The offset after its closing brace, once opened.
    var end = 0
    var members: Range<Int>?
  }

  struct Record {
    /// Narrowest first.
    let layers: Range<Int>
    let isDeleted: Bool
  }

  /// The root's object followed by those of all entities.
  let bytes: [UInt8]
  let root: Range<Int>
  let records: [EntityKey: Record]
  private var layers: [Layer]
  private var members: [Member] = []

  init(_ result: ResultSnapshot) {
    let count = result.entities.values.reduce(result.root.count) { count, record in
      record.layers.reduce(count) { $0 + $1.count }
    }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(count)
    bytes.append(contentsOf: result.root)
    var layers = [Layer(start: 0)]
    records = result.entities.mapValues { record in
      let first = layers.count
      // Any other text would be read into its neighbour.
      for layer in record.layers where layer.first == UInt8(ascii: "{") {
        layers.append(Layer(start: bytes.count))
        bytes.append(contentsOf: layer)
      }
      return Record(layers: first..<layers.count, isDeleted: record.isDeleted)
    }
    root = 0..<1
    self.bytes = bytes
    self.layers = layers
  }

  /// The value of a field in the first layer that has it.
  ///
  /// - Parameter hint: the index in its object where the field is tried first; set to the one after
  ///   it.
  mutating func value(
    of field: Int, in sources: Range<Int>, hint: inout Int, tables: PlanTables,
    scanner: TextScanner
  ) -> Range<Int>? {
    let name = tables.fields[field].storedName
    for layer in sources {
      let range = layers[layer].members ?? open(layer, scanner)
      let expected = range.lowerBound + hint
      if expected < range.upperBound,
        tables.isName(name, at: members[expected].name, of: scanner)
      {
        hint += 1
        return members[expected].value
      }
      for index in range
      where tables.isName(name, at: members[index].name, of: scanner) {
        hint = index - range.lowerBound + 1
        return members[index].value
      }
    }
    return nil
  }

  /// Opens an embedded object as a layer.
  /// - Returns: the layer, and the offset after the object.
  mutating func embedded(
    at start: Int, _ scanner: TextScanner
  ) -> (layer: Range<Int>, end: Int) {
    layers.append(Layer(start: start))
    _ = open(layers.count - 1, scanner)
    return (layers.count - 1..<layers.count, layers[layers.count - 1].end)
  }

  private mutating func open(_ layer: Int, _ scanner: TextScanner) -> Range<Int> {
    let first = members.count
    var offset = scanner.skipBracket(scanner.skipSpace(layers[layer].start))
    while scanner.byte(offset) == UInt8(ascii: "\"") {
      let nameEnd = scanner.skipString(offset)
      let value = scanner.skipColon(nameEnd)
      let end = scanner.skipValue(value)
      members.append(Member(name: offset..<nameEnd, value: value..<end))
      offset = scanner.skipComma(end)
    }
    layers[layer].members = first..<members.count
    layers[layer].end = min(offset + 1, scanner.text.count)
    return first..<members.count
  }
}
