package import LosslessJSON

/// The stored form: `{"entities":[["Film","9"]],"temporary":["~…"],"creates":[["Film","~…"]]}`.
extension Footprint {
  package var jsonBytes: [UInt8] {
    var writer = JSONWriter()
    writer.reserve(Self.bytesUsual)
    writer.beginObject()
    writer.name("entities")
    writer.beginArray()
    for case .entity(let key) in tokens { writer.pair(key.type, key.key) }
    writer.endArray()
    writer.name("temporary")
    writer.beginArray()
    for case .temporary(let id) in tokens { writer.string(id.value) }
    writer.endArray()
    writer.name("creates")
    writer.beginArray()
    for made in creates { writer.pair(made.type, made.id.value) }
    writer.endArray()
    writer.endObject()
    return writer.bytes
  }

  private static let bytesUsual = 128

  /// Nil where it is not what ``jsonBytes`` wrote.
  package init?(json: JSONValue) {
    guard let entities = json["entities"]?.array, let temporary = json["temporary"]?.array,
      let creates = json["creates"]?.array
    else { return nil }
    var tokens: [Token] = []
    for pair in entities {
      guard let type = pair[0]?.string, let key = pair[1]?.string else { return nil }
      tokens.append(.entity(EntityKey(type: type, key: key)))
    }
    for text in temporary {
      guard let id = text.string.flatMap(TemporaryID.init) else { return nil }
      tokens.append(.temporary(id))
    }
    var made: [TemporaryEntity] = []
    for pair in creates {
      guard let type = pair[0]?.string, let id = pair[1]?.string.flatMap(TemporaryID.init) else {
        return nil
      }
      made.append(TemporaryEntity(id: id, type: type))
    }
    self.init(tokens: tokens, creates: made)
  }
}

extension JSONWriter {
  fileprivate mutating func pair(_ first: String, _ second: String) {
    beginArray()
    string(first)
    string(second)
    endArray()
  }
}
