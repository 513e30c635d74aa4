import Gateway
import LosslessJSON
import Model

/// Local writes as JSON.
///
/// A list is `[{"op", "type", "id"?, "data"?, "ifMatch"?}, …]`, `op` one of `insert`,
/// `insertOrUpdate`, `update`, `updateOrInsert`, `delete`; its answer is `{"items": […]}` with the entities and
/// `null` for what was deleted.
enum LocalWritesDocument {
  private static let memberNames: Set<String> = ["op", "type", "id", "data", "ifMatch"]

  static func body(_ bytes: [UInt8]) throws(Failure) -> JSONValue {
    do throws(JSONParseError) {
      return try JSONValue(parsing: bytes)
    } catch {
      throw Failure(.malformedRequest, "The body is not JSON: \(error)")
    }
  }

  /// `If-Match` (RFC 9110 section 13.1.1): `*`, or values of `_rev` in quotes.
  static func match(_ field: String?) throws(Failure) -> LocalWriteRequest.Match? {
    guard let field else { return nil }
    var revisions: [String] = []
    for part in field.split(separator: ",") {
      let tag = part.drop { $0 == " " || $0 == "\t" }.split(separator: " ").first ?? ""
      if tag == "*" { return .any }
      guard tag.count >= 2, tag.first == "\"", tag.last == "\"" else {
        // A weak tag never matches here, and the rest is none.
        guard tag.hasPrefix("W/\"") else {
          throw Failure(.malformedRequest, "If-Match holds values of _rev in quotes.")
        }
        continue
      }
      revisions.append(String(tag.dropFirst().dropLast()))
    }
    return .revisions(revisions)
  }

  static func list(_ bytes: [UInt8]) throws(Failure) -> [LocalWriteRequest] {
    guard let items = try body(bytes).array else {
      throw Failure(.malformedRequest, "The body is a list of operations.")
    }
    var faults: [Failure.Detail] = []
    var requests: [LocalWriteRequest] = []
    for (index, item) in items.enumerated() {
      if let request = request(item, at: "/\(index)", &faults) { requests.append(request) }
    }
    guard faults.isEmpty else {
      throw Failure(.malformedRequest, "The operations cannot be read.", details: faults)
    }
    return requests
  }

  private static func request(
    _ item: JSONValue, at pointer: String, _ faults: inout [Failure.Detail]
  ) -> LocalWriteRequest? {
    func note(_ member: String, _ detail: String) {
      faults.append(
        Failure.Detail(
          place: .pointer(member.isEmpty ? pointer : "\(pointer)/\(member)"), detail: detail))
    }
    guard let members = item.members else {
      note("", "is not an object")
      return nil
    }
    for member in members where !memberNames.contains(member.name) {
      faults.append(
        Failure.Detail(
          place: .pointer(pointer.appending(pointerMember: member.name)),
          detail: "is none of \(memberNames.sorted().joined(separator: ", "))"))
    }
    let action = item["op"]?.string.flatMap(LocalOperation.Action.init(rawValue:))
    if action == nil {
      let known = LocalOperation.Action.allCases.map(\.rawValue)
      note("op", "is none of \(known.joined(separator: ", "))")
    }
    let type = item["type"]?.string
    if type == nil { note("type", "is not the name of a type") }
    if let id = item["id"], id.string == nil { note("id", "is not a text") }
    if let match = item["ifMatch"], match.string == nil { note("ifMatch", "is not a text") }
    guard let action, let type else { return nil }
    return LocalWriteRequest(
      action, type: type, id: item["id"]?.string, body: item["data"] ?? [:],
      match: item["ifMatch"]?.string.map { $0 == "*" ? .any : .revisions([$0]) },
      pointer: "\(pointer)/data")
  }

  static func bytes(_ answers: [LocalWriteAnswer]) -> [UInt8] {
    var writer = JSONWriter()
    writer.beginObject()
    writer.name("items")
    writer.beginArray()
    for answer in answers {
      switch answer {
      case .written(let document, _): writer.raw(document.body)
      case .deleted: writer.null()
      }
    }
    writer.endArray()
    writer.endObject()
    return writer.bytes
  }

  static func path(of key: EntityKey) -> String {
    "/v1/entities/\(escaped(key.type))/\(escaped(key.key))"
  }

  /// A path segment (RFC 3986 section 3.3), with no more left as it is than needs to be.
  private static func escaped(_ text: String) -> String {
    var escaped = ""
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"),
        UInt8(ascii: "."), UInt8(ascii: "~"):
        escaped.unicodeScalars.append(Unicode.Scalar(byte))
      default:
        let digits = String(byte, radix: 16, uppercase: true)
        escaped += digits.count == 1 ? "%0\(digits)" : "%\(digits)"
      }
    }
    return escaped
  }
}
