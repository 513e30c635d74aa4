import GRDB

/// A selection of entities of one type: conditions, an order, and a part of the result.
public struct EntityQuery: Hashable, Sendable {
  public var type: String
  /// All of them must hold.
  public var conditions: [Condition]
  /// The first counts most; the id breaks ties.
  public var order: [Ordering]
  /// At most so many entities; nil for all.
  public var limit: Int?
  /// So many entities are left out at the beginning.
  public var offset: Int

  public init(
    type: String, conditions: [Condition] = [], order: [Ordering] = [], limit: Int? = nil,
    offset: Int = 0
  ) {
    self.type = type
    self.conditions = conditions
    self.order = order
    self.limit = limit
    self.offset = offset
  }

  /// An order by a field. Null comes first, and last where it is descending.
  public struct Ordering: Hashable, Sendable {
    public var field: String
    public var isDescending: Bool

    public init(_ field: String, isDescending: Bool = false) {
      self.field = field
      self.isDescending = isDescending
    }
  }
}

/// What must hold of an entity. Null and fields that are not there meet no comparison.
public indirect enum Condition: Hashable, Sendable {
  /// A comparison of a field with a value. Texts are compared by their bytes.
  public enum Comparison: String, Hashable, Sendable {
    case equal = "="
    case notEqual = "!="
    case less = "<"
    case lessOrEqual = "<="
    case greater = ">"
    case greaterOrEqual = ">="
  }

  case compare(String, Comparison, JSONValue)
  /// A text contains another, or a list an element.
  case contains(String, JSONValue)
  case isIn(String, [JSONValue])
  case isNull(String)
  case not(Condition)
  case and(Condition, Condition)
  case or(Condition, Condition)
}

/// SQL with its arguments. Values are always bound.
struct SQLText {
  var text: String
  var arguments: [(any DatabaseValueConvertible)?] = []

  mutating func append(_ other: SQLText) {
    text += other.text
    arguments += other.arguments
  }
}

extension EntityQuery {
  /// The entities of a profile, by columns `id` and `data`.
  func sql(profile: String, columns: String = "id, data") -> SQLText {
    var sql = SQLText(
      text: "SELECT \(columns) FROM shown WHERE profile = ? AND type = ?",
      arguments: [profile, type])
    for condition in conditions {
      sql.text += " AND "
      sql.append(condition.sql)
    }
    return sql
  }

  /// The same in order, and only the part that the query asks for.
  func page(profile: String) -> SQLText {
    var sql = sql(profile: profile)
    sql.text += " ORDER BY "
    for term in order {
      sql.text += "json_extract(data, ?)\(term.isDescending ? " DESC" : ""), "
      sql.arguments.append(jsonPath(term.field))
    }
    sql.text += "id LIMIT ? OFFSET ?"
    sql.arguments += [limit ?? -1, offset]
    return sql
  }
}

/// The path of a member in SQLite's JSON functions.
func jsonPath(_ field: String) -> String {
  "$.\"" + field.filter { $0 != "\"" && $0 != "\\" } + "\""
}

extension Condition {
  var sql: SQLText {
    switch self {
    case .compare(let field, let comparison, let value):
      return SQLText(
        text: "json_extract(data, ?) \(comparison.rawValue) ?",
        arguments: [jsonPath(field), Self.bound(value)])
    case .contains(let field, let value):
      let path = jsonPath(field)
      return SQLText(
        text: """
          CASE json_type(data, ?)
          WHEN 'array' THEN EXISTS (SELECT 1 FROM json_each(data, ?) WHERE value = ?)
          ELSE instr(json_extract(data, ?), ?) > 0 END
          """, arguments: [path, path, Self.bound(value), path, Self.bound(value)])
    case .isIn(let field, let values):
      let marks = values.map { _ in "?" }.joined(separator: ", ")
      return SQLText(
        text: "json_extract(data, ?) IN (\(marks))",
        arguments: [jsonPath(field)] + values.map(Self.bound))
    case .isNull(let field):
      return SQLText(text: "json_extract(data, ?) IS NULL", arguments: [jsonPath(field)])
    case .not(let condition):
      return Self.joined("NOT (", condition.sql, ")")
    case .and(let left, let right):
      return Self.joined("(", left.sql, " AND ", right.sql, ")")
    case .or(let left, let right):
      return Self.joined("(", left.sql, " OR ", right.sql, ")")
    }
  }

  private static func joined(_ parts: any SQLPart...) -> SQLText {
    parts.reduce(into: SQLText(text: "")) { $0.append($1.sqlText) }
  }

  /// The value as SQLite's JSON functions give it.
  static func bound(_ value: JSONValue) -> (any DatabaseValueConvertible)? {
    switch value {
    case .null: nil
    case .bool(let flag): flag ? 1 : 0
    case .number(let number): Int64(number.digits) ?? number.double
    case .string(let text): text
    case .array, .object: value.text
    }
  }
}

private protocol SQLPart {
  var sqlText: SQLText { get }
}

extension SQLText: SQLPart {
  fileprivate var sqlText: SQLText { self }
}

extension String: SQLPart {
  fileprivate var sqlText: SQLText { SQLText(text: self) }
}
