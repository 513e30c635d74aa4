package import LosslessJSON

/// The stored form: `{"entities":[["Film","9"]],"temporary":["~…"],"creates":[["Film","~…"]]}`.
extension Footprint {
  package var json: JSONValue {
    var entities: [JSONValue] = []
    var temporary: [JSONValue] = []
    for token in tokens {
      switch token {
      case .entity(let key): entities.append(.array([.string(key.type), .string(key.key)]))
      case .temporary(let id): temporary.append(.string(id.value))
      }
    }
    return .object([
      JSONMember("entities", .array(entities)),
      JSONMember("temporary", .array(temporary)),
      JSONMember(
        "creates", .array(creates.map { .array([.string($0.type), .string($0.id.value)]) })),
    ])
  }

  /// Nil where it is not what ``json`` wrote.
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
