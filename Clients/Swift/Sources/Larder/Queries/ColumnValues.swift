public import Foundation

extension Date: ColumnValue {
  public var columnValue: JSONValue { .string(formatted(.iso8601Milliseconds)) }
}

extension Decimal: ColumnValue {
  public var columnValue: JSONValue { .number(JSONNumber(digits: "\(self)")) }
}

extension UUID: ColumnValue {
  public var columnValue: JSONValue { .string(uuidString.lowercased()) }
}

extension URL: ColumnValue {
  public var columnValue: JSONValue { .string(absoluteString) }
}

// Generated enums are compared by their names in the schema.

/// The column has this value.
public func == <Record: Entity, Value: RawRepresentable<String>>(
  path: ColumnPath<Record, Value>, value: Value
) -> TypedCondition<Record> {
  TypedCondition(.compare(Record.columns[keyPath: path].name, .equal, .string(value.rawValue)))
}

/// The column has another value, and is not null.
public func != <Record: Entity, Value: RawRepresentable<String>>(
  path: ColumnPath<Record, Value>, value: Value
) -> TypedCondition<Record> {
  TypedCondition(.compare(Record.columns[keyPath: path].name, .notEqual, .string(value.rawValue)))
}
