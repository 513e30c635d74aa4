import GraphQL
import LosslessJSON

/// The execution of one operation: walks the planned fields, calls the resolver and writes each value
/// to its place in the response (specification 6.3 and 6.4).
///
/// Fields are executed one after the other in response order, so mutations are serial by construction.
/// A failed field cuts the response back to the nearest nullable place.
struct Execution<R: FieldResolver> {
  let schema: Schema
  let collector: DemoFieldCollector
  let limits: ExecutionLimits
  /// Coordinates (`Type.field`) of fields that fail instead of being resolved.
  let brokenFields: Set<String>
  private(set) var resolver: R
  private(set) var response = ResponseText()
  private(set) var errors: [ExecutionError] = []
  /// Whether `fieldsMax` was exceeded, which discards the whole response.
  private(set) var isExhausted = false
  private var path: [PathStep] = []
  private var fieldsWritten = 0

  /// Thrown at a null in a non-null place; its error is already in `errors`.
  struct NullBubble: Error {}

  /// The object whose fields are being written.
  private enum Parent {
    case data(R.Object)
    case schema(IntrospectionObject)
  }

  init(
    schema: Schema, collector: DemoFieldCollector, limits: ExecutionLimits,
    brokenFields: Set<String>, resolver: R
  ) {
    self.schema = schema
    self.collector = collector
    self.limits = limits
    self.brokenFields = brokenFields
    self.resolver = resolver
  }

  /// Writes the value of `data`: an object, or null where a null has bubbled up to the top.
  mutating func run(_ operation: OperationDefinition, on type: NamedType) {
    let fields = collector.fields(of: [operation.selectionSet], on: type)
    let mark = response.mark
    do throws(NullBubble) {
      try write(fields, of: .data(resolver.root(type.name)))
    } catch {
      response.cut(to: mark)
      response.append(raw: "null")
    }
  }

  // MARK: Objects

  private mutating func write(_ fields: [DemoPlannedField], of parent: Parent) throws(NullBubble) {
    response.append("{")
    for (place, field) in fields.enumerated() {
      fieldsWritten += 1
      guard fieldsWritten <= limits.fieldsMax else {
        isExhausted = true
        throw NullBubble()
      }
      if place > 0 { response.append(",") }
      response.append(string: field.responseKey)
      response.append(":")
      path.append(.key(field.responseKey))
      let value = resolve(field, of: parent)
      try write(value, as: field.definition.type, for: field)
      path.removeLast()
    }
    response.append("}")
  }

  private mutating func resolve(_ field: DemoPlannedField, of parent: Parent) -> Resolved<R.Object>
  {
    let name = field.definition.name
    if name == "__typename" { return .string(field.parentType) }
    do throws(FieldFailure) {
      let arguments = try field.arguments.get()
      if brokenFields.contains("\(field.parentType).\(name)") {
        throw FieldFailure("\(field.parentType).\(name) is broken.", code: "INTERNAL_SERVER_ERROR")
      }
      switch parent {
      case .schema(let object):
        return Introspection(schema: schema).resolve(name, of: object, arguments: arguments)
      case .data(let object):
        if name == "__schema" { return .introspected(.schema) }
        if name == "__type" {
          return Introspection(schema: schema).type(named: arguments.string("name") ?? "")
        }
        return try resolver.resolve(name, of: object, arguments: arguments)
      }
    } catch {
      return .failure(error)
    }
  }

  // MARK: Values

  /// Writes a value, or null in its place where the type allows one (specification 6.4.4).
  private mutating func write(
    _ value: Resolved<R.Object>, as type: TypeReference, for field: DemoPlannedField
  ) throws(NullBubble) {
    let depth = path.count
    if type.isNonNull {
      if case .null = value {
        let coordinate = "\(field.parentType).\(field.definition.name)"
        throw fail(
          FieldFailure("Cannot return null for non-nullable field \(coordinate)."), at: field)
      }
      return try writeNonNull(value, as: type.nullable, for: field)
    }
    let mark = response.mark
    do throws(NullBubble) {
      try writeNonNull(value, as: type, for: field)
    } catch {
      if isExhausted { throw error }
      path.removeLast(path.count - depth)
      response.cut(to: mark)
      response.append(raw: "null")
    }
  }

  private mutating func writeNonNull(
    _ value: Resolved<R.Object>, as type: TypeReference, for field: DemoPlannedField
  ) throws(NullBubble) {
    switch value {
    case .failure(let failure): throw fail(failure, at: field)
    case .null: response.append(raw: "null")
    case .list(let elements):
      guard let item = type.item else { throw fail(.mismatch(type), at: field) }
      try write(elements, as: item, for: field)
    case .object(let object):
      try write(
        .data(object), named: resolver.typeName(of: object), as: type, for: field)
    case .introspected(let object):
      try write(.schema(object), named: object.typeName, as: type, for: field)
    case .bool, .int, .number, .string:
      guard type.item == nil, let named = schema.type(of: type),
        let text = LeafSerializer.bytes(value, as: named)
      else { throw fail(.mismatch(type), at: field) }
      response.append(raw: text)
    }
  }

  private mutating func write(
    _ elements: [Resolved<R.Object>], as item: TypeReference, for field: DemoPlannedField
  ) throws(NullBubble) {
    response.append("[")
    for (place, element) in elements.enumerated() {
      if place > 0 { response.append(",") }
      path.append(.index(place))
      try write(element, as: item, for: field)
      path.removeLast()
    }
    response.append("]")
  }

  private mutating func write(
    _ parent: Parent, named name: String, as type: TypeReference, for field: DemoPlannedField
  ) throws(NullBubble) {
    guard type.item == nil, let object = schema.type(named: name), object.kind == .object,
      name == type.name.value || schema.isSubType(name, of: type.name.value)
    else { throw fail(.mismatch(type), at: field) }
    if field.selections[name] == nil {
      field.selections[name] = collector.fields(
        of: field.nodes.compactMap(\.selectionSet), on: object)
    }
    try write(field.selections[name] ?? [], of: parent)
  }

  private mutating func fail(_ failure: FieldFailure, at field: DemoPlannedField) -> NullBubble {
    errors.append(
      ExecutionError(
        failure.message, positions: field.positions, path: path, extensions: failure.extensions))
    return NullBubble()
  }
}

extension FieldFailure {
  /// The error for a resolver's value that does not have the field's type: a fault of the server.
  fileprivate static func mismatch(_ type: TypeReference) -> FieldFailure {
    FieldFailure("The value is not of type \(type).", code: "INTERNAL_SERVER_ERROR")
  }
}

/// JSON text that can be cut back to a mark: a null that replaces a half-written object cuts the object
/// off, so no tree has to be built first.
struct ResponseText {
  private(set) var bytes: [UInt8] = []

  /// A position to cut back to.
  var mark: Int { bytes.count }

  mutating func cut(to mark: Int) {
    bytes.removeLast(bytes.count - mark)
  }

  mutating func append(_ byte: Character) {
    bytes.append(byte.asciiValue ?? UInt8(ascii: "?"))
  }

  /// Text that is JSON already.
  mutating func append(raw text: String) {
    bytes.append(contentsOf: text.utf8)
  }

  mutating func append(raw text: [UInt8]) {
    bytes.append(contentsOf: text)
  }

  /// A string with quotes and the escapes of RFC 8259, section 7.
  mutating func append(string: String) {
    bytes.append(UInt8(ascii: "\""))
    for unit in string.utf8 {
      switch unit {
      case UInt8(ascii: "\""), UInt8(ascii: "\\"):
        bytes.append(UInt8(ascii: "\\"))
        bytes.append(unit)
      case UInt8(ascii: "\n"): bytes.append(contentsOf: "\\n".utf8)
      case UInt8(ascii: "\t"): bytes.append(contentsOf: "\\t".utf8)
      case 0..<0x20:
        let digits = String(unit, radix: 16)
        bytes.append(contentsOf: "\\u00\(digits.utf8.count == 1 ? "0" : "")\(digits)".utf8)
      default: bytes.append(unit)
      }
    }
    bytes.append(UInt8(ascii: "\""))
  }
}
