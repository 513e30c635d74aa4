import Gateway
import HTTPWire
import LosslessJSON
import Model

/// Entity writes as JSON.
///
/// A list is `[{"op", "type", "id"?, "data"?, "ifMatch"?}, …]`, where `op` is one of `insert`,
/// `insertOrUpdate`, `update`, `updateOrInsert`, `findOrInsert`, `delete`. Instead of `id`, `update` and
/// `delete` accept `filter` and `args`: an array of the values of each `?`, or an object with the value
/// of each `:name`. The response is `{"items": […]}`: each the entity, `null` for a deletion, or
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

  /// The condition of a write. `If-Match` (RFC 9110 section 13.1.1) is `*`, entity tags of reads of the
  /// entity in any content coding, or values of `_rev` in quotes. `If-None-Match` (section 13.1.2) can
  /// only be `*`.
  static func match(
    ifMatch: String?, ifNoneMatch: String?
  ) throws(Failure) -> EntityWriteRequest.Match? {
    if let ifNoneMatch {
      guard ifNoneMatch == "*", ifMatch == nil else {
        throw Failure(
          .malformedRequest, "Writes support either If-Match or `If-None-Match: *`, not both.")
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
          "If-Match must be *, entity tags of the entity, or values of its _rev in quotes.")
      }
      // A weak tag never matches here.
      if !tag.isWeak { validators.append(tag.uncoded.opaque) }
    }
    return .validators(validators)
  }

  /// The condition in an item's `ifMatch`: a value of `_rev` without quotes, an entity tag with quotes,
  /// or `*`.
  private static func match(_ text: String) -> EntityWriteRequest.Match {
    if text == "*" { return .any }
    guard let tag = EntityTag(parsing: text) else { return .validators([text]) }
    return .validators(tag.isWeak ? [] : [tag.uncoded.opaque])
  }

  /// - Returns: the valid operations, and the faults of the others.
  static func list(
    _ bytes: [UInt8]
  ) throws(Failure) -> (requests: [EntityWriteRequest], faults: [Failure.Detail]) {
    guard let items = try body(bytes).array else {
      throw Failure(.malformedRequest, "The body must be an array of operations.")
    }
    // Checked before they are read, because each could add a fault.
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
      note("", "must be an object")
      return nil
    }
    for member in members where !memberNames.contains(member.name) {
      faults.append(
        Failure.Detail(
          place: .pointer(pointer.appending(pointerMember: member.name)),
          detail: "is unknown; the members are \(memberNames.sorted().joined(separator: ", "))"))
    }
    let action = item["op"]?.string.flatMap(WriteAction.init(rawValue:))
    if action == nil {
      let known = WriteAction.allCases.map(\.rawValue)
      note("op", "must be one of \(known.joined(separator: ", "))")
    }
    let type = item["type"]?.string
    if type == nil { note("type", "must be the name of a type") }
    if let id = item["id"], id.string == nil { note("id", "must be a string") }
    if let match = item["ifMatch"], match.string == nil { note("ifMatch", "must be a string") }
    var target = EntityWriteRequest.Target.one(id: item["id"]?.string)
    if item["filter"] != nil || item["args"] != nil {
      if item["id"] != nil { note("id", "cannot be combined with filter or args") }
      guard let parameters = condition(item, note) else { return nil }
      target = .many(parameters)
    }
    guard let action, let type else { return nil }
    return EntityWriteRequest(
      action, type: type, target: target, body: item["data"] ?? [:],
      match: item["ifMatch"]?.string.map(match),
      origin: pointer)
  }

  /// `filter` and `args` as query parameters.
  private static func condition(
    _ item: JSONValue, _ note: (_ member: String, _ detail: String) -> Void
  ) -> [CollectionRequest.Parameter]? {
    guard let filter = item["filter"]?.string else {
      note("filter", "must be a string")
      return nil
    }
    let arguments = item["args"] ?? []
    let named: [(String, JSONValue)]
    if let values = arguments.array {
      named = values.map { ("arg", $0) }
    } else if let members = arguments.members {
      named = members.map { ("arg.\($0.name)", $0.value) }
    } else {
      note("args", "must be an array or an object")
      return nil
    }
    var parameters = [CollectionRequest.Parameter("filter", filter)]
    for (name, value) in named {
      let text = value.string ?? value.number?.digits ?? value.bool.map { $0 ? "true" : "false" }
      guard let text else {
        note("args", "must contain only strings, numbers and booleans")
        return nil
      }
      parameters.append(.init(name, text))
    }
    return parameters
  }

  static func bytes(_ outcomes: [EntityWriteOutcome]) -> [UInt8] {
    var writer = JSONWriter()
    writer.beginObject()
    writer.name("items")
    writer.beginArray()
    for outcome in outcomes { writer.raw(bytes(outcome)) }
    writer.endArray()
    writer.endObject()
    return writer.bytes
  }

  static func bytes(_ outcome: EntityWriteOutcome) -> [UInt8] {
    switch outcome {
    case .written(let document, _): return document.body
    case .deleted: return Array("null".utf8)
    case .matched(let count): return Array(#"{"matched":\#(count)}"#.utf8)
    }
  }

  static func path(of key: EntityKey) -> String {
    "/v1/entities/\(PercentCoding.encode(key.type))/\(PercentCoding.encode(key.key))"
  }
}
