import GraphQL
import LosslessJSON

/// The execution of one operation: walks the planned fields, calls the resolver and writes each value
/// to its place in the response (specification 6.3 and 6.4).
///
/// Fields are executed one after the other in response order, so mutations are serial by construction.
/// A failed field cuts the response back to the nearest nullable place, so no tree has to be built.
struct Execution<R: FieldResolver> {
  let schema: Schema
  let planner: FieldPlanner
  let limits: ExecutionLimits
  /// Coordinates (`Type.field`) of fields that fail instead of being resolved.
  let brokenFields: Set<String>
  private(set) var resolver: R
  /// JSON text, without its end until `run` returns.
  private(set) var response: [UInt8] = []
  private(set) var errors: [JSONValue] = []
  /// Whether `fieldsMax` was exceeded, which discards the whole response.
  private(set) var isExhausted = false
  private var path: [JSONValue] = []
  private var fieldsWritten = 0

  /// Thrown at a null in a non-null place; its error is already in `errors`.
  struct NullBubble: Error {}

  /// The object whose fields are being written.
  private enum Parent {
    case data(R.Object)
    case schema(IntrospectionObject)
  }

  init(
    schema: Schema, planner: FieldPlanner, limits: ExecutionLimits, brokenFields: Set<String>,
    resolver: R
  ) {
    self.schema = schema
    self.planner = planner
    self.limits = limits
    self.brokenFields = brokenFields
    self.resolver = resolver
  }

  /// Writes the value of `data`: an object, or null where a null has bubbled up to the top.
  mutating func run(_ operation: OperationDefinition, on type: NamedType) {
    let fields = planner.fields(of: [operation.selectionSet], on: type)
    do throws(NullBubble) {
      try write(fields, of: .data(resolver.root(type.name)))
    } catch {
      response = Array("null".utf8)
    }
  }

  // MARK: Objects

  private mutating func write(_ fields: [ExecutionField], of parent: Parent) throws(NullBubble) {
    append("{")
    for (place, field) in fields.enumerated() {
      fieldsWritten += 1
      guard fieldsWritten <= limits.fieldsMax else {
        isExhausted = true
        throw NullBubble()
      }
      if place > 0 { append(",") }
      response += JSONValue.string(field.key).bytes
      append(":")
      path.append(.string(field.key))
      try write(resolve(field, of: parent), as: field.definition.type, for: field)
      path.removeLast()
    }
    append("}")
  }

  private mutating func resolve(_ field: ExecutionField, of parent: Parent) -> Resolved<R.Object> {
    let name = field.definition.name
    if name == "__typename" { return .text(field.parentType) }
    do throws(FieldFailure) {
      let arguments = try field.arguments.get()
      if brokenFields.contains(field.coordinate) {
        throw FieldFailure("\(field.coordinate) is broken.", code: "INTERNAL_SERVER_ERROR")
      }
      let introspection = Introspection<R.Object>(schema: schema)
      switch parent {
      case .schema(let object):
        return introspection.resolve(name, of: object, arguments: arguments)
      case .data(let object):
        if name == "__schema" { return .introspected(.schema) }
        if name == "__type" { return introspection.type(named: arguments["name"]?.string) }
        return try resolver.resolve(name, of: object, arguments: arguments)
      }
    } catch {
      return .failure(error)
    }
  }

  // MARK: Values

  /// Writes a value, or null in its place where the type allows one (specification 6.4.4).
  private mutating func write(
    _ value: Resolved<R.Object>, as type: TypeReference, for field: ExecutionField
  ) throws(NullBubble) {
    if type.isNonNull {
      if case .value(.null) = value {
        throw fail(
          FieldFailure("Cannot return null for non-nullable field \(field.coordinate)."), at: field)
      }
      return try writeNonNull(value, as: type.nullable, for: field)
    }
    let (mark, depth) = (response.count, path.count)
    do throws(NullBubble) {
      try writeNonNull(value, as: type, for: field)
    } catch {
      if isExhausted { throw error }
      path.removeLast(path.count - depth)
      response.removeLast(response.count - mark)
      append("null")
    }
  }

  private mutating func writeNonNull(
    _ value: Resolved<R.Object>, as type: TypeReference, for field: ExecutionField
  ) throws(NullBubble) {
    switch value {
    case .failure(let failure): throw fail(failure, at: field)
    case .value(.null): append("null")
    case .value(.array(let elements)):
      try write(elements.map { .value($0) }, as: type, for: field)
    case .list(let elements): try write(elements, as: type, for: field)
    case .object(let object):
      try write(.data(object), named: resolver.typeName(of: object), as: type, for: field)
    case .introspected(let object):
      try write(.schema(object), named: object.typeName, as: type, for: field)
    case .value(let leaf):
      guard type.item == nil, let text = schema.type(of: type)?.serialized(leaf)?.bytes else {
        throw mismatch(type, at: field)
      }
      response += text
    }
  }

  private mutating func write(
    _ elements: [Resolved<R.Object>], as type: TypeReference, for field: ExecutionField
  ) throws(NullBubble) {
    guard let item = type.item else { throw mismatch(type, at: field) }
    append("[")
    for (place, element) in elements.enumerated() {
      if place > 0 { append(",") }
      path.append(.int(place))
      try write(element, as: item, for: field)
      path.removeLast()
    }
    append("]")
  }

  private mutating func write(
    _ parent: Parent, named name: String, as type: TypeReference, for field: ExecutionField
  ) throws(NullBubble) {
    guard type.item == nil, let object = schema.type(named: name), object.kind == .object,
      name == type.name.value || schema.isSubType(name, of: type.name.value)
    else { throw mismatch(type, at: field) }
    let fields =
      field.selections[name]
      ?? planner.fields(of: field.nodes.compactMap(\.selectionSet), on: object)
    field.selections[name] = fields
    try write(fields, of: parent)
  }

  private mutating func append(_ text: StaticString) {
    response += UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount)
  }

  // MARK: Errors

  private mutating func fail(_ failure: FieldFailure, at field: ExecutionField) -> NullBubble {
    errors.append(
      .error(
        failure.message, at: field.nodes.compactMap(\.location.position), path: path,
        extensions: failure.extensions))
    return NullBubble()
  }

  /// The error for a resolver's value that does not have the field's type: a fault of the server.
  private mutating func mismatch(
    _ type: TypeReference, at field: ExecutionField
  ) -> NullBubble {
    fail(
      FieldFailure("The value is not of type \(type).", code: "INTERNAL_SERVER_ERROR"), at: field)
  }
}
