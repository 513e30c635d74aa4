package import LosslessJSON

extension TemporaryID {
  /// Every temporary id that is a whole string of the value, as a key's value or in an array.
  package static func mentioned(in value: JSONValue) -> Set<TemporaryID> {
    var found: Set<TemporaryID> = []
    collect(from: value, into: &found)
    return found
  }

  private static func collect(from value: JSONValue, into found: inout Set<TemporaryID>) {
    switch value {
    case .string(let text): if let id = TemporaryID(text) { found.insert(id) }
    case .array(let values): for value in values { collect(from: value, into: &found) }
    case .object(let members): for member in members { collect(from: member.value, into: &found) }
    case .null, .bool, .number: break
    }
  }

  /// Variables as they are sent: each whole string that is a known temporary id gives way to the
  /// real key. The stored ones stay as they are, so that every attempt starts from the same text.
  package static func substituting(
    _ known: [TemporaryID: EntityKey], in value: JSONValue
  ) -> JSONValue {
    switch value {
    case .string(let text):
      guard let id = TemporaryID(text), let entity = known[id] else { return value }
      return .string(entity.key)
    case .array(let values): return .array(values.map { substituting(known, in: $0) })
    case .object(let members):
      return .object(members.map { JSONMember($0.name, substituting(known, in: $0.value)) })
    case .null, .bool, .number: return value
    }
  }
}
