import GraphQL
import LosslessJSON

/// The data of a schema: resolves each field of each object.
///
/// Mutations change the resolver itself, so effects happen in the executor's order of fields. Meta fields
/// are not passed to it.
protocol FieldResolver {
  associatedtype Object

  /// The root value of a query or mutation.
  func root(_ typeName: String) -> Object

  /// The name of the object's type in the schema, never an interface or union.
  func typeName(of object: Object) -> String

  /// - Parameter arguments: an object: the given arguments and the defaults of the others.
  mutating func resolve(
    _ field: String, of object: Object, arguments: JSONValue
  ) throws(FieldFailure) -> Resolved<Object>
}

/// The value of a resolved field, before it is checked against the field's type and written.
enum Resolved<Object> {
  /// Null, a scalar, the name of an enum value, or a list of these.
  case value(JSONValue)
  case object(Object)
  case list([Resolved])
  /// A part of the schema itself.
  case introspected(IntrospectionObject)
  /// The field, or this element of a list, failed.
  case failure(FieldFailure)

  static var null: Resolved { .value(.null) }
  static func text(_ text: String?) -> Resolved { .value(text.map(JSONValue.string) ?? .null) }
  static func int(_ number: Int) -> Resolved { .value(.int(number)) }
  static func object(_ object: Object?) -> Resolved { object.map { .object($0) } ?? .null }
}

extension JSONValue {
  static func int(_ number: some FixedWidthInteger) -> JSONValue { .number(JSONNumber(number)) }

  var strings: [String] { array?.compactMap(\.string) ?? [] }

  /// One element of the `errors` of a response (specification 7.1.2).
  ///
  /// - Parameter path: names and indexes.
  static func error(
    _ message: String, at positions: [SourcePosition] = [], path: [JSONValue] = [],
    extensions: [JSONMember]
  ) -> JSONValue {
    var members = [JSONMember("message", .string(message))]
    if !positions.isEmpty {
      let places = positions.map {
        ["line": .int($0.line), "column": .int($0.column)] as JSONValue
      }
      members.append(JSONMember("locations", .array(places)))
    }
    if !path.isEmpty { members.append(JSONMember("path", .array(path))) }
    if !extensions.isEmpty { members.append(JSONMember("extensions", .object(extensions))) }
    return .object(members)
  }

  /// - Parameter code: the machine-readable code, such as `GRAPHQL_VALIDATION_FAILED`.
  static func error(_ fault: Fault, code: String) -> JSONValue {
    error(
      fault.message, at: fault.positions, extensions: [JSONMember("code", .string(code))])
  }
}

/// The reason why a field has no value; becomes one element of the response's `errors`.
struct FieldFailure: Error, Sendable {
  let message: String
  /// Members of `extensions`, usually with `code` first.
  let extensions: [JSONMember]

  init(_ message: String, code: String? = nil, extensions: [JSONMember] = []) {
    self.message = message
    self.extensions = (code.map { [JSONMember("code", .string($0))] } ?? []) + extensions
  }
}

extension NamedType {
  /// A leaf value as the response has it (specification 3.5, result coercion); nil if it is not of this
  /// type. Custom scalars accept any value that is no list or object.
  func serialized(_ value: JSONValue) -> JSONValue? {
    switch (name, value) {
    case ("Int", .number(let number)): Int32(number.digits).map(JSONValue.int)
    case ("Float", .number), ("Boolean", .bool), ("String", .string), ("ID", .string): value
    case ("Int", _), ("Float", _), ("Boolean", _), ("String", _), ("ID", _): nil
    case (_, .string(let text)) where kind == .enum: values[text] == nil ? nil : value
    case (_, .bool), (_, .number), (_, .string): kind == .scalar ? value : nil
    case (_, .null), (_, .array), (_, .object): nil
    }
  }
}
