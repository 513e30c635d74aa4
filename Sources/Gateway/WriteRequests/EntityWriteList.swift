import HTTPWire
package import LosslessJSON
package import Model

/// Reads a list of entity writes: `[{"op", "type", "id"?, "data"?, "ifMatch"?}, …]`, where `op` is one
/// of `insert`, `replace`, `insertOrUpdate`, `update`, `updateOrInsert`, `findOrInsert`, `delete`. Instead of `id`, `update` and
/// `delete` accept `filter` and `args`: an array of the values of each `?`, or an object with the value
/// of each `:name`; or `"all": true`.
package enum EntityWriteList {
  private static let memberNames: Set<String> = [
    "op", "type", "id", "filter", "args", "all", "data", "ifMatch",
  ]

  /// - Parameter pointer: the JSON pointer of the list.
  /// - Returns: the valid operations, and the faults of the others.
  package static func read(
    _ items: [JSONValue], at pointer: String = ""
  ) -> (requests: [EntityWriteRequest], faults: [Failure.Detail]) {
    var faults: [Failure.Detail] = []
    var requests: [EntityWriteRequest] = []
    for (index, item) in items.enumerated() {
      if let request = request(item, at: "\(pointer)/\(index)", &faults) {
        requests.append(request)
      }
    }
    return (requests, faults)
  }

  /// The condition in an item's `ifMatch`: a value of `_rev` without quotes, an entity tag with quotes,
  /// or `*`.
  private static func match(_ text: String) -> EntityWriteRequest.Match {
    if text == "*" { return .any }
    guard let tag = EntityTag(parsing: text) else { return .validators([text]) }
    return .validators(tag.isWeak ? [] : [tag.uncoded.opaque])
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
    let id = item["id"].flatMap { $0.string ?? $0.number?.digits }
    if item["id"] != nil, id == nil { note("id", "must be a string or a number") }
    if let match = item["ifMatch"], match.string == nil { note("ifMatch", "must be a string") }
    var target = EntityWriteRequest.Target.one(id: id)
    if let all = item["all"] {
      for name in ["id", "filter", "args"] where item[name] != nil {
        note(name, "cannot be combined with all")
      }
      if all.bool != true { note("all", "must be true, or absent") }
      target = .many([.init(EntityWriteRequest.allParameter, "true")])
    } else if item["filter"] != nil || item["args"] != nil {
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
}
