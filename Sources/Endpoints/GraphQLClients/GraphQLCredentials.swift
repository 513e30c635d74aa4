import LosslessJSON
import Model

/// The header fields that identify the caller of a socket: those in the payload of `connection_init`,
/// otherwise those of the handshake.
///
/// A page cannot set fields of a handshake, so clients send them in the payload, as members of it or of
/// its member `headers`. Names are compared without case, and values must be possible in a header field,
/// since they are forwarded to upstream as such.
struct GraphQLCredentials: Sendable {
  /// UTF-8 bytes of a value: the limit of a request's head by default.
  static let valueBytesMax = 16 << 10
  /// The member that can contain the fields.
  private static let container = "headers"

  /// By name in lower case.
  private var values: [String: String] = [:]

  /// - Parameters:
  ///   - payload: a JSON object.
  ///   - names: the names that identify a caller, in lower case; other members are ignored.
  init(payload: JSONValue, names: Set<String>) throws(Failure) {
    try read(payload.members ?? [], names: names, in: "the payload")
    for member in payload.members ?? [] where member.name == Self.container {
      try read(member.value.members ?? [], names: names, in: "headers")
    }
  }

  /// - Parameter name: in lower case.
  func value(of name: String) -> String? { values[name] }

  private mutating func read(
    _ members: [JSONMember], names: Set<String>, in place: String
  ) throws(Failure) {
    for member in members {
      let name = member.name.lowercased()
      guard names.contains(name), !member.value.isNull else { continue }
      guard let text = member.value.string, let value = Self.fieldValue(text) else {
        throw Failure(.malformedRequest, "\(name) in \(place) is not a header field's value.")
      }
      if value.isEmpty { continue }
      guard values.updateValue(value, forKey: name) == nil else {
        throw Failure(.malformedRequest, "\(name) is given more than once.")
      }
    }
  }

  /// The text without surrounding blanks; nil if no header field can have it (RFC 9110 section 5.5).
  private static func fieldValue(_ text: String) -> String? {
    guard text.utf8.count <= valueBytesMax,
      text.utf8.allSatisfy({ $0 == 0x09 || $0 >= 0x20 && $0 != 0x7F })
    else { return nil }
    let isBlank = { (character: Character) in character == " " || character == "\t" }
    var trimmed = text.drop(while: isBlank)
    while trimmed.last.map(isBlank) == true { trimmed.removeLast() }
    return String(trimmed)
  }
}
