import Gateway
import HTTPWire
import LosslessJSON
import Model

/// Writes as JSON.
///
/// A list is `[{"op", "type", "id"?, "data"?, "ifMatch"?}, …]`, `op` one of `insert`,
/// `insertOrUpdate`, `update`, `updateOrInsert`, `findOrInsert`, `delete`. In the place of `id`,
/// `update` and `delete` take `filter` and `args`: a list of the values of each `?`, or an object with
/// those of each `:name`. Its answer is `{"items": […]}`: the entities, `null` for what was deleted,
/// `{"matched": n}` for a filter.
enum EntityWritesDocument {
  private static let memberNames: Set<String> = [
    "op", "type", "id", "filter", "args", "data", "ifMatch",
  ]

  static func body(_ bytes: [UInt8]) throws(Failure) -> JSONValue {
    do throws(JSONParseError) {
      return try JSONValue(parsing: bytes)
    } catch {
      throw Failure(.malformedRequest, "The body is not JSON: \(error)")
    }
  }

  /// `If-Match` (RFC 9110 section 13.1.1): `*`, or entity tags of reads of the entity, in any content
  /// coding, or values of `_rev` in quotes. `If-None-Match` (section 13.1.2): `*` alone has a meaning
  /// for a write.
  static func match(
    ifMatch: String?, ifNoneMatch: String?
  ) throws(Failure) -> EntityWriteRequest.Match? {
    if let ifNoneMatch {
      guard ifNoneMatch == "*", ifMatch == nil else {
        throw Failure(.malformedRequest, "A write takes If-None-Match: * or If-Match, not both.")
      }
      return .absent
    }
    guard let ifMatch else { return nil }
    var validators: [String] = []
    for part in ifMatch.split(separator: ",") {
      if part.split(whereSeparator: { $0 == " " || $0 == "\t" }) == ["*"] { return .any }
      guard let tag = EntityTag(parsing: String(part)) else {
        throw Failure(
          .malformedRequest,
          "If-Match must hold entity tags of the entity, or values of its _rev in quotes.")
      }
      // A weak tag never matches here.
      if !tag.isWeak { validators.append(tag.uncoded.opaque) }
    }
    return .validators(validators)
  }

  /// A validator of a list's item: a value of `_rev` as it stands in a body, or an entity tag as it
  /// stands in a field.
  private static func match(_ text: String) -> EntityWriteRequest.Match {
    if text == "*" { return .any }
    guard let tag = EntityTag(parsing: text) else { return .validators([text]) }
    return .validators(tag.isWeak ? [] : [tag.uncoded.opaque])
  }

  /// - Returns: the operations that can be read, and the faults of the others.
  static func list(
    _ bytes: [UInt8]
  ) throws(Failure) -> (requests: [EntityWriteRequest], faults: [Failure.Detail]) {
    guard let items = try body(bytes).array else {
      throw Failure(.malformedRequest, "The body is a list of operations.")
    }
    // Before they are read: each could be a fault of its own.
    try EntityWrites.checkCount(items.count)
    var faults: [Failure.Detail] = []
    var requests: [EntityWriteRequest] = []
    for (index, item) in items.enumerated() {
      if let request = request(item, at: "/\(index)", &faults) { requests.append(request) }
    }
    return (requests, faults)
  }

  private static func request(
    _ item: JSONValue, at pointer: String, _ faults: inout [Failure.Detail]
  ) -> EntityWriteRequest? {
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
    let action = item["op"]?.string.flatMap(WriteAction.init(rawValue:))
    if action == nil {
      let known = WriteAction.allCases.map(\.rawValue)
      note("op", "is none of \(known.joined(separator: ", "))")
    }
    let type = item["type"]?.string
    if type == nil { note("type", "is not the name of a type") }
    if let id = item["id"], id.string == nil { note("id", "is not a text") }
    if let match = item["ifMatch"], match.string == nil { note("ifMatch", "is not a text") }
    var target = EntityWriteRequest.Target.one(id: item["id"]?.string)
    if item["filter"] != nil || item["args"] != nil {
      if item["id"] != nil { note("id", "does not go together with filter") }
      guard let parameters = condition(item, note) else { return nil }
      target = .many(parameters)
    }
    guard let action, let type else { return nil }
    return EntityWriteRequest(
      action, type: type, target: target, body: item["data"] ?? [:],
      match: item["ifMatch"]?.string.map(match),
      origin: pointer)
  }

  /// `filter` and `args` as the parameters that a path would have.
  private static func condition(
    _ item: JSONValue, _ note: (_ member: String, _ detail: String) -> Void
  ) -> [CollectionRequest.Parameter]? {
    guard let filter = item["filter"]?.string else {
      note("filter", "is not a text")
      return nil
    }
    let arguments = item["args"] ?? []
    let named: [(String, JSONValue)]
    if let values = arguments.array {
      named = values.map { ("arg", $0) }
    } else if let members = arguments.members {
      named = members.map { ("arg.\($0.name)", $0.value) }
    } else {
      note("args", "is neither a list nor an object")
      return nil
    }
    var parameters = [CollectionRequest.Parameter("filter", filter)]
    for (name, value) in named {
      let text = value.string ?? value.number?.digits ?? value.bool.map { $0 ? "true" : "false" }
      guard let text else {
        note("args", "holds texts, numbers, true and false")
        return nil
      }
      parameters.append(.init(name, text))
    }
    return parameters
  }

  static func bytes(_ answers: [EntityWriteOutcome]) -> [UInt8] {
    var writer = JSONWriter()
    writer.beginObject()
    writer.name("items")
    writer.beginArray()
    for answer in answers { writer.raw(bytes(answer)) }
    writer.endArray()
    writer.endObject()
    return writer.bytes
  }

  static func bytes(_ answer: EntityWriteOutcome) -> [UInt8] {
    switch answer {
    case .written(let document, _): return document.body
    case .deleted: return Array("null".utf8)
    case .matched(let count): return Array(#"{"matched":\#(count)}"#.utf8)
    }
  }

  static func path(of key: EntityKey) -> String {
    "/v1/entities/\(PercentCoding.encode(key.type))/\(PercentCoding.encode(key.key))"
  }
}
