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

/// SQL with its arguments. Values are always bound: a question mark in the text is a place for one.
struct SQLText {
  var text: String
  var arguments: [(any DatabaseValueConvertible)?] = []

  mutating func append(_ other: SQLText) {
    text += other.text
    arguments += other.arguments
  }

  /// The text with numbers at its places, so that it can be repeated.
  func numbered(after count: Int) -> String {
    let parts = text.split(separator: "?", omittingEmptySubsequences: false)
    return parts.dropFirst().enumerated().reduce(into: String(parts[0])) { text, part in
      text += "?\(count + part.offset + 1)\(part.element)"
    }
  }
}

extension EntityQuery {
  /// The entities of a profile.
  func sql(profile: String, columns: String = "id, data") -> SQLText {
    var sql = SQLText(text: "SELECT \(columns) FROM shown WHERE ")
    sql.append(selection(profile: profile))
    return sql
  }

  private func selection(profile: String) -> SQLText {
    var sql = SQLText(text: "profile = ? AND type = ", arguments: [profile])
    // In the text, since SQLite compares it with the condition of an index.
    sql.append(
      isName(type) ? SQLText(text: "'\(type)'") : SQLText(text: "?", arguments: [type]))
    for condition in conditions {
      sql.text += " AND "
      sql.append(condition.sql)
    }
    return sql
  }

  /// The ids and data, in order, and only the part that the query asks for.
  ///
  /// It selects from the tables of the view `shown` itself. Thus SQLite merges the two, each of them in
  /// order by an index if there is one, and reads no more than the part needs.
  func page(profile: String) -> SQLText {
    let order = effectiveOrder
    var columns = SQLText(text: "id, data")
    for term in order {
      columns.text += ", "
      columns.append(fieldValue(term.field))
    }
    let selection = selection(profile: profile)
    let columnsText = columns.numbered(after: 0)
    let condition = selection.numbered(after: columns.arguments.count)
    var sql = SQLText(text: "", arguments: columns.arguments + selection.arguments)
    let terms = order.enumerated().map { "\($0 + 3)\($1.isDescending ? " DESC" : ""), " }.joined()
    sql.text = """
      SELECT \(columnsText) FROM replica WHERE \(condition) AND NOT EXISTS (
        SELECT 1 FROM shadow
        WHERE shadow.profile = replica.profile AND shadow.type = replica.type
          AND shadow.id = replica.id)
      UNION ALL
      SELECT \(columnsText) FROM shadow WHERE \(condition) AND data IS NOT NULL
      ORDER BY \(terms)1 LIMIT ?\(sql.arguments.count + 1) OFFSET ?\(sql.arguments.count + 2)
      """
    sql.arguments += [limit ?? -1, offset]
    return sql
  }

  /// The order without fields that decide nothing, since they equal a value or come before.
  var effectiveOrder: [Ordering] {
    var known = Set(equalFields)
    return order.filter { !isName($0.field) || known.insert($0.field).inserted }
  }

  /// The fields that equal a value in all of the result.
  var equalFields: [String] { conditions.flatMap(\.equalFields) }
}

/// The path of a member in SQLite's JSON functions.
func jsonPath(_ field: String) -> String {
  "$.\"" + field.filter { $0 != "\"" && $0 != "\\" } + "\""
}

/// Whether a text is a name of GraphQL, which can be in SQL as it is.
func isName(_ text: String) -> Bool {
  guard let first = text.utf8.first, !(0x30...0x39).contains(first) else { return false }
  return text.utf8.allSatisfy { byte in
    switch byte {
    case 0x30...0x39, 0x41...0x5A, 0x5F, 0x61...0x7A: true
    default: false
    }
  }
}

/// The value of a field. A name is in the text, since an index is for the same text.
func fieldValue(_ field: String) -> SQLText {
  isName(field)
    ? SQLText(text: "json_extract(data, '\(jsonPath(field))')")
    : SQLText(text: "json_extract(data, ?)", arguments: [jsonPath(field)])
}

extension Condition {
  var sql: SQLText {
    switch self {
    case .compare(let field, let comparison, let value):
      let right = SQLText(
        text: " \(comparison.rawValue) ?", arguments: [Self.bound(value)])
      return Self.joined(fieldValue(field), right)
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
      let right = SQLText(text: " IN (\(marks))", arguments: values.map(Self.bound))
      return Self.joined(fieldValue(field), right)
    case .isNull(let field):
      return Self.joined(fieldValue(field), " IS NULL")
    case .not(let condition):
      return Self.joined("NOT (", condition.sql, ")")
    case .and(let left, let right):
      return Self.joined("(", left.sql, " AND ", right.sql, ")")
    case .or(let left, let right):
      return Self.joined("(", left.sql, " OR ", right.sql, ")")
    }
  }

  /// The fields that equal a value wherever the condition holds.
  var equalFields: [String] {
    switch self {
    case .compare(let field, .equal, _): [field]
    case .and(let left, let right): left.equalFields + right.equalFields
    default: []
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
