import GraphQL
import LosslessJSON
import Model

/// Reads the defaults of local types' fields, as values that a client could have written.
struct LocalDefaultsReader {
  let schema: LocalSchema
  let definitions: [String: TypeDefinition]
  private(set) var findings: [Finding] = []

  init(schema: LocalSchema, definitions: [String: TypeDefinition]) {
    self.schema = schema
    self.definitions = definitions
  }

  mutating func withDefaults(_ fields: [LocalField], of type: String) -> [LocalField] {
    fields.map { field in
      guard
        let directive = definitions[type]?.fields.first(where: { $0.name.value == field.name })?
          .directives.directive(named: LocalDirectives.fallback),
        let literal = directive.argument(named: "value")
      else { return field }
      return field.with(fallback: fallback(literal, field, directive))
    }
  }

  private mutating func fallback(
    _ literal: Value, _ field: LocalField, _ directive: Directive
  ) -> JSONValue? {
    guard !field.isRelationship else {
      findings.append(
        Finding(.fault, "A relationship cannot have a default.", at: directive.location))
      return nil
    }
    var reader = LocalValueReader(schema: schema)
    guard let value = Self.json(literal) else {
      findings.append(
        Finding(.fault, "A default cannot contain variables.", at: literal.location))
      return nil
    }
    let read = reader.read(value, field, at: "")
    for fault in reader.faults {
      guard case .pointer(let pointer) = fault.place else { continue }
      findings.append(
        Finding(
          .fault, "The default\(pointer.isEmpty ? "" : " at \(pointer)") \(fault.detail).",
          at: literal.location))
    }
    return read
  }

  private static func json(_ value: Value) -> JSONValue? {
    switch value.kind {
    case .variable: return nil
    case .null: return .null
    case .boolean(let flag): return .bool(flag)
    case .int(let digits), .float(let digits): return JSONNumber(digits: digits).map { .number($0) }
    case .string(let text, _): return .string(text)
    case .enum(let name): return .string(name)
    case .list(let items):
      let read = items.compactMap(json)
      return read.count == items.count ? .array(read) : nil
    case .object(let fields):
      let read = fields.compactMap { field in
        json(field.value).map { JSONMember(field.name.value, $0) }
      }
      return read.count == fields.count ? .object(read) : nil
    }
  }
}
