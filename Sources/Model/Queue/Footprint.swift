package import LosslessJSON

/// The objects that a mutation touches. Mutations that share one conflict, and are sent in order.
///
/// It holds the object, the objects it refers to, the references that its optimistic fields set or
/// replace, every temporary id it mentions, and those it creates.
package struct Footprint: Hashable, Sendable {
  /// One object touched. An entity with a temporary id is represented by that id, whatever its type.
  package enum Token: Hashable, Sendable {
    case entity(EntityKey)
    case temporary(TemporaryID)

    package init(_ key: EntityKey) {
      if let id = TemporaryID(key.key) { self = .temporary(id) } else { self = .entity(key) }
    }
  }

  /// Without duplicates, in the order of first mention.
  package private(set) var tokens: [Token]
  package let creates: [TemporaryEntity]

  package static let empty = Footprint(tokens: [], creates: [])

  package init(tokens: [Token], creates: [TemporaryEntity]) {
    let all = tokens + creates.map { .temporary($0.id) }
    var seen: Set<Token> = []
    // Most footprints hold only their object.
    self.tokens = all.count > 1 ? all.filter { seen.insert($0).inserted } : all
    self.creates = creates
  }

  /// - Parameters:
  ///   - references: `refs`, and the references in optimistic fields and in the values they replace.
  ///   - mentions: the temporary ids in the variables.
  package init(
    object: EntityKey?, references: some Sequence<EntityKey> = [],
    mentions: some Sequence<TemporaryID> = [], creates: [TemporaryEntity] = []
  ) {
    self.init(
      tokens: (object.map { [$0] } ?? []).map { Token($0) }
        + references.map { Token($0) } + mentions.map { .temporary($0) },
      creates: creates)
  }

  /// Returns whether both touch the same object.
  package func conflicts(with other: Footprint) -> Bool {
    tokens.contains { other.tokens.contains($0) }
  }

  package func mentions(_ id: TemporaryID) -> Bool { tokens.contains(.temporary(id)) }

  package func isCreating(_ id: TemporaryID) -> Bool { creates.contains { $0.id == id } }

  /// The temporary ids that other mutations must resolve before it can be sent.
  package var needs: [TemporaryID] {
    tokens.compactMap { token in
      guard case .temporary(let id) = token, !isCreating(id) else { return nil }
      return id
    }
  }

  /// Returns the footprint with resolved temporary ids replaced by their entities. An id that it
  /// creates itself stays.
  package func resolving(_ known: [TemporaryID: EntityKey]) -> Footprint {
    guard !known.isEmpty else { return self }
    return Footprint(
      tokens: tokens.map { token in
        guard case .temporary(let id) = token, let entity = known[id] else { return token }
        return .entity(entity)
      },
      creates: creates)
  }
}

/// A temporary id with the type of its entity, which is the first entity of that type in the response
/// to the create.
package struct TemporaryEntity: Hashable, Sendable {
  package let id: TemporaryID
  package let type: String

  package init(id: TemporaryID, type: String) {
    self.id = id
    self.type = type
  }
}

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

  /// Nil unless the value is one that ``jsonBytes`` wrote.
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
