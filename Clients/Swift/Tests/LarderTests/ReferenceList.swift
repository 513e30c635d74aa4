import GRDB

@testable import Larder

/// A query as plain SQL over the view of what shows, with all paths bound, which no index serves.
struct ReferenceList {
  private let query: EntityQuery
  private var arguments: [(any DatabaseValueConvertible)?] = []

  init(_ query: EntityQuery) {
    self.query = query
  }

  /// The bytes of ids and data.
  func rows(_ db: Database, _ profile: String) throws -> [[[UInt8]]] {
    var reference = self
    reference.arguments = [profile, query.type]
    let conditions = query.conditions.map { " AND " + reference.text($0) }.joined()
    let order = query.order.map { term in
      reference.path(term.field)
      return "json_extract(data, ?)\(term.isDescending ? " DESC" : ""), "
    }
    reference.arguments += [query.limit ?? -1, query.offset]
    return try Row.fetchAll(
      db,
      sql: """
        SELECT id, data FROM shown WHERE profile = ? AND type = ?\(conditions)
        ORDER BY \(order.joined())id LIMIT ? OFFSET ?
        """, arguments: StatementArguments(reference.arguments)
    ).map { row in [Array((row[0] as String).utf8), Array((row[1] as String).utf8)] }
  }

  private mutating func path(_ field: String) {
    arguments.append("$.\"" + field.filter { $0 != "\"" && $0 != "\\" } + "\"")
  }

  private mutating func text(_ condition: Condition) -> String {
    switch condition {
    case .compare(let field, let comparison, let value):
      path(field)
      arguments.append(Condition.bound(value))
      return "json_extract(data, ?) \(comparison.rawValue) ?"
    case .contains(let field, let value):
      for _ in 0..<2 { path(field) }
      arguments.append(Condition.bound(value))
      path(field)
      arguments.append(Condition.bound(value))
      return """
        CASE json_type(data, ?)
        WHEN 'array' THEN EXISTS (SELECT 1 FROM json_each(data, ?) WHERE value = ?)
        ELSE instr(json_extract(data, ?), ?) > 0 END
        """
    case .isIn(let field, let values):
      path(field)
      arguments += values.map(Condition.bound)
      return "json_extract(data, ?) IN (\(values.map { _ in "?" }.joined(separator: ", ")))"
    case .isNull(let field):
      path(field)
      return "json_extract(data, ?) IS NULL"
    case .not(let condition): return "NOT (\(text(condition)))"
    case .and(let left, let right): return "(\(text(left)) AND \(text(right)))"
    case .or(let left, let right): return "(\(text(left)) OR \(text(right)))"
    }
  }
}

/// Random entities, overlays and queries of a seed.
struct RandomLists {
  private static let types = ["Film", "Film", "Film", "Film", "Film", "Film", "Song", "It's"]
  private static let names = ["a", "a", "A", "b", "b", "_c", "id"]
  private static let fields = names + ["x.y", "d'e?", "q\"r", "é", "e\u{301}"]
  private static let values: [JSONValue] = [
    .null, true, false, 0, 1, 2, -1, "", "a", "A", "b", "B", "10", "9", "é", "e\u{301}", "'", "?",
    [], ["a"], [1, "b"], [:], ["a": 1], .number(JSONNumber(digits: "1.0")),
    .number(JSONNumber(digits: "9007199254740993")),
    .number(JSONNumber(digits: "9007199254740992.0")), .number(JSONNumber(digits: "1e400")),
    .number(JSONNumber(digits: "2.5")), .number(JSONNumber(digits: "-0.0")),
    .number(JSONNumber(digits: "123456789012345678901234567890")),
  ]

  private var random: SeededGenerator

  init(seed: UInt64) {
    random = SeededGenerator(seed: seed)
  }

  private mutating func int(_ range: Range<Int>) -> Int { Int.random(in: range, using: &random) }

  private mutating func one<Element>(_ list: [Element]) -> Element { list[int(0..<list.count)] }

  /// Most often one that an index can be for.
  private mutating func field() -> String { one(int(0..<6) > 0 ? Self.names : Self.fields) }

  private mutating func id() -> String {
    one(["f", "F", "é", "e\u{301}", "~", ""]) + "\(int(0..<200))"
  }

  private mutating func members() -> [String: JSONValue] {
    var members: [String: JSONValue] = [:]
    for field in Self.fields where int(0..<3) > 0 { members[field] = one(Self.values) }
    return members
  }

  mutating func row() -> (type: String, id: String, data: JSONValue) {
    (one(Self.types), id(), .object(members()))
  }

  mutating func change() -> OptimisticChange {
    OptimisticChange(
      one([.merge, .create, .delete]), type: one(Self.types), id: id(), fields: members())
  }

  private mutating func condition(_ depth: Int = 0) -> Condition {
    let field = field()
    switch int(0..<(depth < 2 ? 11 : 8)) {
    case 0...2: return .compare(field, .equal, one(Self.values))
    case 3, 4:
      let comparisons: [Condition.Comparison] = [
        .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual,
      ]
      return .compare(field, one(comparisons), one(Self.values))
    case 5: return .contains(field, one(Self.values))
    case 6: return .isIn(field, (0..<int(0..<4)).map { _ in one(Self.values) })
    case 7: return .isNull(field)
    case 8: return .not(condition(depth + 1))
    case 9: return .and(condition(depth + 1), condition(depth + 1))
    default: return .or(condition(depth + 1), condition(depth + 1))
    }
  }

  mutating func query() -> EntityQuery {
    EntityQuery(
      type: one(Self.types), conditions: (0..<int(0..<3)).map { _ in condition() },
      order: (0..<int(0..<4)).map { _ in
        EntityQuery.Ordering(field(), isDescending: int(0..<2) == 0)
      }, limit: int(0..<5) == 0 ? nil : int(0..<60), offset: int(0..<3) == 0 ? int(0..<20) : 0)
  }
}
