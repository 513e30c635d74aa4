import LosslessJSON
import Model

/// Converts a row's values after its type has changed.
///
/// Numbers, booleans and strings convert into each other if their text is the same; a number with a
/// fraction does not convert to an integer. A value becomes a list with one element, and a list of at most
/// one element becomes its element. Null becomes the default if null is no longer allowed. A relationship
/// keeps its target type, which can have been renamed.
struct LocalConverter {
  let schema: LocalSchema
  /// New names by old.
  let renamedTypes: [String: String]

  /// - Returns: the row's new fields, including fields that the type no longer has, and a text
  ///   `field fault` for each value that cannot be converted.
  func convert(
    _ fields: [String: JSONValue], _ type: LocalType
  ) -> (fields: [String: JSONValue], faults: [String]) {
    var result = fields
    var faults: [String] = []
    for field in type.fields {
      var value = fields[field.name]
      if value == nil, let former = field.formerName {
        value = result.removeValue(forKey: former)
      }
      // Local fields that were not written have no value of their own.
      if value == nil, type.extended != nil { continue }
      switch convert(value ?? field.emptyValue, field) {
      case .success(let converted): result[field.name] = converted
      case .failure(let fault): faults.append("\(field.name) \(fault.text)")
      }
    }
    return (result, faults)
  }

  private struct Fault: Error {
    let text: String
  }

  private func convert(_ value: JSONValue, _ field: LocalField) -> Result<JSONValue, Fault> {
    var value = value
    if value.isNull, field.isRequired { value = field.emptyValue }
    value = reshaped(value, field)
    if case .entity(let target, _) = field.kind { return relationship(value, field, target) }
    var reader = LocalValueReader(schema: schema)
    let read = reader.read(value, field, at: "")
    if let read { return .success(read) }
    return .failure(Fault(text: reader.faults.first?.detail ?? "cannot be converted"))
  }

  private func reshaped(_ value: JSONValue, _ field: LocalField) -> JSONValue {
    if field.listDepth > 0 {
      if value.isNull { return value }
      return .array((value.array ?? [value]).map { respelled($0, field) })
    }
    if let elements = value.array {
      return elements.count > 1 ? value : elements.first.map { respelled($0, field) } ?? .null
    }
    return respelled(value, field)
  }

  /// Returns the same content as another scalar type.
  private func respelled(_ value: JSONValue, _ field: LocalField) -> JSONValue {
    guard case .scalar(let scalar) = field.kind else { return value }
    switch (value, scalar) {
    case (.string(let text), _) where scalar.isNumber:
      return JSONNumber(digits: text).map { .number($0) } ?? value
    case (.string("true"), .boolean), (.string("false"), .boolean):
      return .bool(value == .string("true"))
    case (.number(let number), .string), (.number(let number), .id):
      return .string(number.digits)
    case (.bool(let flag), .string):
      return .string(flag ? "true" : "false")
    case (.number(let number), _) where scalar.range != nil:
      guard number.int64 == nil, let whole = number.double.flatMap({ Int64(exactly: $0) }) else {
        return value
      }
      return .number(JSONNumber(whole))
    default:
      return value
    }
  }

  private func relationship(
    _ value: JSONValue, _ field: LocalField, _ target: String
  ) -> Result<JSONValue, Fault> {
    if value.isNull {
      return field.isRequired && !field.isToMany
        ? .failure(Fault(text: "is required")) : .success(field.emptyValue)
    }
    var references: [JSONValue] = []
    for element in value.array ?? [value] {
      let possible = field.possibleTypes.isEmpty ? [target] : field.possibleTypes
      guard let key = element.referencedKey,
        possible.contains(renamedTypes[key.type] ?? key.type)
      else { return .failure(Fault(text: "is not a \(target)")) }
      references.append(
        .storedReference(to: EntityKey(type: renamedTypes[key.type] ?? key.type, key: key.key)))
    }
    if field.isToMany { return .success(.array(references)) }
    guard references.count <= 1 else {
      return .failure(Fault(text: "refers to more than one \(target)"))
    }
    return .success(references.first ?? .null)
  }
}
