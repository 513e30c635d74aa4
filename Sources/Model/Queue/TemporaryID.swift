package import LosslessJSON

/// An id that the client generated for an entity that does not exist yet: `~` and a UUIDv7 or a ULID.
package struct TemporaryID: Hashable, Sendable {
  package let value: String

  /// Nil unless the text has this form.
  package init?(_ text: String) {
    guard text.utf8.first == UInt8(ascii: "~") else { return nil }
    let rest = Array(text.utf8.dropFirst())
    guard Self.isUUIDv7(rest) || Self.isULID(rest) else { return nil }
    value = text
  }

  /// RFC 9562, section 5.7, in the text form of section 4.
  private static func isUUIDv7(_ text: [UInt8]) -> Bool {
    guard text.count == 36, text[14] == UInt8(ascii: "7") else { return false }
    guard "89abAB".utf8.contains(text[19]) else { return false }
    return text.indices.allSatisfy { place in
      [8, 13, 18, 23].contains(place)
        ? text[place] == UInt8(ascii: "-") : Self.isHexDigit(text[place])
    }
  }

  /// 26 letters of Crockford's base32, of which the first encodes three bits.
  private static func isULID(_ text: [UInt8]) -> Bool {
    guard text.count == 26, (UInt8(ascii: "0")...UInt8(ascii: "7")).contains(text[0]) else {
      return false
    }
    return text.allSatisfy { byte in
      switch byte | 0x20 {
      case UInt8(ascii: "i"), UInt8(ascii: "l"), UInt8(ascii: "o"), UInt8(ascii: "u"): false
      case UInt8(ascii: "a")...UInt8(ascii: "z"): true
      default: (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
      }
    }
  }

  private static func isHexDigit(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"),
      UInt8(ascii: "A")...UInt8(ascii: "F"):
      true
    default: false
    }
  }
}

extension TemporaryID {
  /// Returns every temporary id that is a whole string of the value, as a member's value or in an array.
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

  /// Returns variables for sending: each whole string that is a resolved temporary id is replaced by
  /// the real key. The stored variables stay, so that every attempt starts from the same text.
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
