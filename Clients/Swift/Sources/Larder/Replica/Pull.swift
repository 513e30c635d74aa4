/// What has been pulled for a following, and where the pull goes on.
struct Pull: Sendable {
  struct Change: Sendable {
    let key: EntityKey
    /// Nil if the entity is gone.
    let data: JSONValue?
  }

  /// 0 for `$mutation`.
  let following: Int
  let definition: String
  /// The parameters of the definition.
  let query: [(name: String, value: String)]
  var cursor: String?
  var isSnapshot: Bool
  /// Whether a cursor was refused.
  var wasReset = false
  var count = 0
  /// The last change of each entity.
  var changes: [EntityKey: Change] = [:]

  init(following: Int, definition: String, cursor: String?) throws {
    self.following = following
    self.definition = definition
    self.cursor = cursor
    isSnapshot = cursor == nil
    let parsed = try JSONValue(parsing: definition)
    let types = (parsed["types"]?.array ?? []).compactMap(\.string)
    var query = [(name: "types", value: types.joined(separator: ","))]
    if let filter = parsed["filter"]?.string { query.append(("filter", filter)) }
    for argument in parsed["args"]?.array ?? [] {
      query.append(("arg", argument.string ?? argument.text))
    }
    self.query = query
  }

  mutating func restart() {
    (cursor, isSnapshot, wasReset, count, changes) = (nil, true, true, 0, [:])
  }

  /// Takes a page; true if it was the last.
  mutating func take(_ page: JSONValue) throws -> Bool {
    guard let changes = page["changes"]?.array, let cursor = page["cursor"]?.string else {
      throw LarderError.unexpectedContent("A page of changes lacks \"changes\" or \"cursor\".")
    }
    for change in changes {
      guard let type = change["type"]?.string, let id = change["id"]?.string else { continue }
      guard !id.utf8.contains(0) else {
        throw LarderError.unexpectedContent("An id of type \(type) has a NUL character.")
      }
      let key = EntityKey(type: type, id: id)
      self.changes[key] = Change(key: key, data: change["op"] == "put" ? change["data"] : nil)
    }
    count += changes.count
    let isComplete = page["complete"]?.bool == true
    guard isComplete || cursor != self.cursor else {
      throw LarderError.unexpectedContent("Changes go on at the cursor at which they began.")
    }
    self.cursor = cursor
    return isComplete
  }
}
