import GraphQL
import LosslessJSON

/// One run of one operation: walks the planned fields, asks the resolver and writes each value where
/// it belongs in the answer (specification 6.3 and 6.4).
///
/// Fields run one after the other in the order of the answer, so mutations are serial by
/// construction. A failed field cuts the answer back to the nearest place that may be null.
struct Execution<R: Resolver> {
  let schema: Schema
  let collector: FieldCollector
  let limits: ExecutionLimits
  /// `Type.field` coordinates that fail instead of being resolved.
  let brokenFields: Set<String>
  private(set) var resolver: R
  private(set) var answer = ResponseText()
  private(set) var errors: [ExecutionError] = []
  /// Set when `fieldsMax` ran out; the whole answer is void then.
  private(set) var isExhausted = false
  private var path: [PathStep] = []
  private var fieldsWritten = 0

  /// Thrown where a null may not stand; the error it stands for is in `errors` already.
  struct NullBubble: Error {}

  /// Whose fields are being written.
  private enum Parent {
    case data(R.Object)
    case schema(IntrospectionObject)
  }

  init(
    schema: Schema, collector: FieldCollector, limits: ExecutionLimits,
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
    let mark = answer.mark
    do throws(NullBubble) {
      try write(fields, of: .data(resolver.root(type.name)))
    } catch {
      answer.cut(to: mark)
      answer.append(raw: "null")
    }
  }

  // MARK: Objects

  private mutating func write(_ fields: [PlannedField], of parent: Parent) throws(NullBubble) {
    answer.append("{")
    for (place, field) in fields.enumerated() {
      fieldsWritten += 1
      guard fieldsWritten <= limits.fieldsMax else {
        isExhausted = true
        throw NullBubble()
      }
      if place > 0 { answer.append(",") }
      answer.append(string: field.responseKey)
      answer.append(":")
      path.append(.key(field.responseKey))
      let value = resolve(field, of: parent)
      try write(value, as: field.definition.type, for: field)
      path.removeLast()
    }
    answer.append("}")
  }

  private mutating func resolve(_ field: PlannedField, of parent: Parent) -> Resolved<R.Object> {
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
    _ value: Resolved<R.Object>, as type: TypeReference, for field: PlannedField
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
    let mark = answer.mark
    do throws(NullBubble) {
      try writeNonNull(value, as: type, for: field)
    } catch {
      if isExhausted { throw error }
      path.removeLast(path.count - depth)
      answer.cut(to: mark)
      answer.append(raw: "null")
    }
  }

  private mutating func writeNonNull(
    _ value: Resolved<R.Object>, as type: TypeReference, for field: PlannedField
  ) throws(NullBubble) {
    switch value {
    case .failure(let failure): throw fail(failure, at: field)
    case .null: answer.append(raw: "null")
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
      answer.append(raw: text)
    }
  }

  private mutating func write(
    _ elements: [Resolved<R.Object>], as item: TypeReference, for field: PlannedField
  ) throws(NullBubble) {
    answer.append("[")
    for (place, element) in elements.enumerated() {
      if place > 0 { answer.append(",") }
      path.append(.index(place))
      try write(element, as: item, for: field)
      path.removeLast()
    }
    answer.append("]")
  }

  private mutating func write(
    _ parent: Parent, named name: String, as type: TypeReference, for field: PlannedField
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

  private mutating func fail(_ failure: FieldFailure, at field: PlannedField) -> NullBubble {
    errors.append(
      ExecutionError(
        failure.message, positions: field.positions, path: path, extensions: failure.extensions))
    return NullBubble()
  }
}

extension FieldFailure {
  /// The resolver's value is none of the field's type: a fault of the server.
  fileprivate static func mismatch(_ type: TypeReference) -> FieldFailure {
    FieldFailure("The value is no \(type).", code: "INTERNAL_SERVER_ERROR")
  }
}
