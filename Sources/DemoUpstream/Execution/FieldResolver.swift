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

  mutating func resolve(
    _ field: String, of object: Object, arguments: Arguments
  ) throws(FieldFailure) -> Resolved<Object>
}

/// The value of a resolved field, before it is checked against the field's type and written.
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
  /// The field, or this element of a list, failed.
  case failure(FieldFailure)
}

extension Resolved {
  static func int(_ value: Int) -> Resolved { .int(Int64(value)) }

  static func int(_ value: Int?) -> Resolved { value.map { .int(Int64($0)) } ?? .null }

  static func string(_ text: String?) -> Resolved { text.map { .string($0) } ?? .null }

  static func object(_ object: Object?) -> Resolved { object.map { .object($0) } ?? .null }

  static func strings(_ texts: [String]) -> Resolved { .list(texts.map { .string($0) }) }
}

/// Coerced arguments of a field, or the fields of a coerced input object: given values and defaults.
/// Absent differs from null.
struct Arguments {
  let members: [JSONMember]

  init(_ members: [JSONMember]) {
    self.members = members
  }

  /// The fields of an input object; empty for any other value.
  init(_ object: JSONValue?) {
    members = object?.members ?? []
  }

  subscript(name: String) -> JSONValue? {
    members.first { $0.name == name }?.value
  }

  func string(_ name: String) -> String? { self[name]?.string }
  func int(_ name: String) -> Int? { self[name]?.int64.flatMap(Int.init(exactly:)) }
  func strings(_ name: String) -> [String]? { self[name]?.array?.compactMap(\.string) }
  func object(_ name: String) -> Arguments? {
    self[name].flatMap { $0.members == nil ? nil : Arguments($0) }
  }
}

/// Writes leaf values as their type demands (specification 3.5, result coercion).
enum LeafSerializer {
  /// The JSON text of a value; nil if it is not of the type.
  static func bytes<Object>(_ value: Resolved<Object>, as type: NamedType) -> [UInt8]? {
    switch (value, type.name) {
    case (.int(let number), "Int"): Int32(exactly: number).map { Array(String($0).utf8) }
    case (.number(let digits), "Int"): Int32(digits).map { Array(String($0).utf8) }
    case (.bool(let flag), "Boolean"): Array((flag ? "true" : "false").utf8)
    case (.int(let number), "Float"): Array(String(number).utf8)
    case (.number(let digits), "Float"): Array(digits.utf8)
    case (.string(let text), "String"), (.string(let text), "ID"): quoted(text)
    case (.int(let number), "ID"): quoted(String(number))
    case (_, "Int"), (_, "Float"), (_, "Boolean"), (_, "String"), (_, "ID"): nil
    case (.string(let text), _) where type.kind == .enum:
      type.values[text] == nil ? nil : quoted(text)
    case (_, _) where type.kind != .scalar: nil
    case (.string(let text), _): quoted(text)
    case (.int(let number), _): Array(String(number).utf8)
    case (.number(let digits), _): Array(digits.utf8)
    case (.bool(let flag), _): Array((flag ? "true" : "false").utf8)
    case (.null, _), (.object, _), (.list, _), (.introspected, _), (.failure, _): nil
    }
  }

  private static func quoted(_ text: String) -> [UInt8] {
    var bytes = ResponseText()
    bytes.append(string: text)
    return bytes.bytes
  }
}
