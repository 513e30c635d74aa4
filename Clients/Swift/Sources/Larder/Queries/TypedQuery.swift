/// A condition on entities of one type.
public struct TypedCondition<Record: Entity>: Sendable {
  public let condition: Condition

  public init(_ condition: Condition) {
    self.condition = condition
  }

  /// Both hold.
  public static func && (left: Self, right: Self) -> Self {
    Self(.and(left.condition, right.condition))
  }

  /// One of them holds, or both.
  public static func || (left: Self, right: Self) -> Self {
    Self(.or(left.condition, right.condition))
  }

  /// The condition does not hold.
  public static prefix func ! (operand: Self) -> Self {
    Self(.not(operand.condition))
  }
}

/// A value that conditions compare columns with.
public protocol ColumnValue: Sendable {
  var columnValue: JSONValue { get }
}

extension String: ColumnValue {
  public var columnValue: JSONValue { .string(self) }
}

extension Bool: ColumnValue {
  public var columnValue: JSONValue { .bool(self) }
}

extension Int: ColumnValue {
  public var columnValue: JSONValue { .number(JSONNumber(self)) }
}

extension Int64: ColumnValue {
  public var columnValue: JSONValue { .number(JSONNumber(self)) }
}

extension Double: ColumnValue {
  public var columnValue: JSONValue { .number(JSONNumber(self)) }
}

/// A column of a generated type, as `\.year`.
public typealias ColumnPath<Record: Entity, Value> = KeyPath<Record.Columns, Column<Value>>

private func compare<Record: Entity, Value>(
  _ path: ColumnPath<Record, Value>, _ comparison: Condition.Comparison, _ value: JSONValue
) -> TypedCondition<Record> {
  TypedCondition(.compare(Record.columns[keyPath: path].name, comparison, value))
}

/// The column has this value.
public func == <Record: Entity, Value: ColumnValue>(
  path: ColumnPath<Record, Value>, value: Value
) -> TypedCondition<Record> { compare(path, .equal, value.columnValue) }

/// The column has another value, and is not null.
public func != <Record: Entity, Value: ColumnValue>(
  path: ColumnPath<Record, Value>, value: Value
) -> TypedCondition<Record> { compare(path, .notEqual, value.columnValue) }

/// The column is less.
public func < <Record: Entity, Value: ColumnValue>(
  path: ColumnPath<Record, Value>, value: Value
) -> TypedCondition<Record> { compare(path, .less, value.columnValue) }

/// The column is less or equal.
public func <= <Record: Entity, Value: ColumnValue>(
  path: ColumnPath<Record, Value>, value: Value
) -> TypedCondition<Record> { compare(path, .lessOrEqual, value.columnValue) }

/// The column is greater.
public func > <Record: Entity, Value: ColumnValue>(
  path: ColumnPath<Record, Value>, value: Value
) -> TypedCondition<Record> { compare(path, .greater, value.columnValue) }

/// The column is greater or equal.
public func >= <Record: Entity, Value: ColumnValue>(
  path: ColumnPath<Record, Value>, value: Value
) -> TypedCondition<Record> { compare(path, .greaterOrEqual, value.columnValue) }

extension TypedCondition {
  /// The column's value is one of these.
  public static func isIn<Value: ColumnValue>(
    _ path: ColumnPath<Record, Value>, _ values: [Value]
  ) -> Self {
    Self(.isIn(Record.columns[keyPath: path].name, values.map(\.columnValue)))
  }

  /// The column's text contains another.
  public static func contains(_ path: ColumnPath<Record, String>, _ text: String) -> Self {
    Self(.contains(Record.columns[keyPath: path].name, .string(text)))
  }

  /// The column's value is null, or was never fetched.
  public static func isNull<Value>(_ path: ColumnPath<Record, Value>) -> Self {
    Self(.isNull(Record.columns[keyPath: path].name))
  }
}

/// A query whose entities are of a generated type.
public struct TypedQuery<Record: Entity>: Hashable, Sendable {
  public internal(set) var query = EntityQuery(type: Record.typeName)

  /// The entities of which another condition holds as well.
  public func filter(_ condition: TypedCondition<Record>) -> Self {
    changed { $0.conditions.append(condition.condition) }
  }

  /// The first order counts most; the key breaks ties.
  public func order<Value>(
    _ path: ColumnPath<Record, Value>, isDescending: Bool = false
  ) -> Self {
    let name = Record.columns[keyPath: path].name
    return changed { $0.order.append(EntityQuery.Ordering(name, isDescending: isDescending)) }
  }

  /// At most so many entities, after so many others.
  public func limit(_ limit: Int, offset: Int = 0) -> Self {
    changed { ($0.limit, $0.offset) = (limit, offset) }
  }

  private func changed(_ body: (inout EntityQuery) -> Void) -> Self {
    var result = self
    body(&result.query)
    return result
  }

  /// All entities of the result.
  public func fetchAll(_ db: LocalDatabase) throws -> [Record] {
    try db.entities(query).map { try $0.decoded() }
  }

  /// The first entity of the result; nil if there is none.
  public func fetchOne(_ db: LocalDatabase) throws -> Record? {
    try limit(1, offset: query.offset).fetchAll(db).first
  }

  /// The number of entities, without the limit.
  public func fetchCount(_ db: LocalDatabase) throws -> Int {
    try db.count(query)
  }

  /// The values of a column in the whole result, each with the number of its entities, in order.
  public func fetchSections<Value>(
    _ db: LocalDatabase, by path: ColumnPath<Record, Value>, isDescending: Bool = false
  ) throws -> [(name: JSONValue, count: Int)] {
    try db.sections(query, by: Record.columns[keyPath: path].name, isDescending: isDescending)
  }
}

extension Entity {
  /// All entities of the type.
  public static var all: TypedQuery<Self> { TypedQuery() }

  /// The entities of which a condition holds.
  public static func filter(_ condition: TypedCondition<Self>) -> TypedQuery<Self> {
    all.filter(condition)
  }

  /// An entity by its key, or by its temporary id; nil if the phone does not have it.
  public static func fetchOne(_ db: LocalDatabase, key: String) throws -> Self? {
    try db.entity(typeName, key: key)?.decoded()
  }
}
