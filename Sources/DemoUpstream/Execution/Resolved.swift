/// What a field turned out to be, before it is checked against the field's type and written.
enum Resolved<Object> {
  case null
  case bool(Bool)
  case int(Int64)
  /// A number with its own digits.
  case number(String)
  /// A string, an ID, the name of an enum value, or a scalar that travels as text.
  case string(String)
  case object(Object)
  case list([Resolved])
  /// A part of the schema itself.
  case introspected(IntrospectionObject)
  /// The field, or this element of a list, could not be had.
  case failure(FieldFailure)
}

extension Resolved {
  static func int(_ value: Int) -> Resolved { .int(Int64(value)) }

  static func int(_ value: Int?) -> Resolved { value.map { .int(Int64($0)) } ?? .null }

  static func string(_ text: String?) -> Resolved { text.map { .string($0) } ?? .null }

  static func object(_ object: Object?) -> Resolved { object.map { .object($0) } ?? .null }

  static func strings(_ texts: [String]) -> Resolved { .list(texts.map { .string($0) }) }
}
