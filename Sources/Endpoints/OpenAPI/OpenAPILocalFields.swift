import LosslessJSON
import Model

/// The JSON schemas of a local type's fields: their scalars, nullability and rules.
struct OpenAPILocalFields {
  /// Where the value stands.
  enum Form {
    /// In an entity that is read.
    case read
    /// In the body of an insertion or a replacement.
    case written
    /// In a merge patch.
    case patched
  }

  let schema: LocalSchema
  /// Of the type; nil inside an embedded object, which types of different formats can have.
  let dates: DateFormat?
  let form: Form

  func schema(of field: LocalField) -> JSONValue { level(0, of: field) }

  private func level(_ level: Int, of field: LocalField) -> JSONValue {
    var value = bare(level, of: field)
    let notes = [value["description"]?.string, level == 0 ? note(on: field) : nil]
    let text = notes.compactMap { $0 }.joined(separator: " ")
    if !text.isEmpty { value["description"] = .string(text) }
    // Null removes all entities of a relationship. A patch with null gives a field its default.
    let isNullable =
      !field.nonNull[level] || level == 0 && (form == .patched || field.isToMany)
    return isNullable ? ["anyOf": [value, ["type": "null"]]] : value
  }

  private func bare(_ level: Int, of field: LocalField) -> JSONValue {
    guard level < field.listDepth else { return element(of: field) }
    var list: JSONValue = ["type": "array", "items": self.level(level + 1, of: field)]
    if level == 0 {
      if let minimum = field.rules.lengthMin { list["minItems"] = .number(JSONNumber(minimum)) }
      if let maximum = field.rules.lengthMax { list["maxItems"] = .number(JSONNumber(maximum)) }
    }
    return list
  }

  private func note(on field: LocalField) -> String? {
    var notes: [String] = []
    if let pattern = field.rules.pattern {
      notes.append("The whole text matches the pattern \(pattern.source)")
    }
    if case .entity(let type, _) = field.kind {
      notes.append(
        form == .read
          ? "The id of a \(type), or the entity if `include` names the field"
          : "The id of a \(type)")
    }
    return notes.isEmpty ? nil : notes.joined(separator: ". ") + "."
  }

  private func element(of field: LocalField) -> JSONValue {
    switch field.kind {
    case .scalar(let scalar): return self.scalar(scalar, field)
    case .enumeration(let name):
      return [
        "type": "string", "enum": .array((schema.enums[name] ?? []).map { .string($0) }),
      ]
    case .object(let name):
      return form == .patched && field.listDepth == 0
        ? ["type": "object"] : ["$ref": .string("#/components/schemas/\(name)Object")]
    case .entity:
      let reference = reference(among: field.possibleTypes)
      return form == .read ? ["anyOf": [reference, ["type": "object"]]] : reference
    }
  }

  private var id: JSONValue {
    form == .read
      ? ["type": "string"] : ["anyOf": [["type": "string"], ["type": "integer"]]]
  }

  /// - Parameter types: those that implement the interface that a relationship leads to.
  private func reference(among types: [String]) -> JSONValue {
    if types.isEmpty { return id }
    return [
      "type": "object", "required": ["type", "id"],
      "properties": [
        "type": ["type": "string", "enum": .array(types.map { .string($0) })], "id": id,
      ],
    ]
  }

  private func scalar(_ scalar: LocalScalar, _ field: LocalField) -> JSONValue {
    switch scalar {
    case .boolean: ["type": "boolean"]
    case .int64: ranged(["type": "integer", "format": "int64"], nil, field.rules)
    case .int, .int8, .int16, .int32: ranged(["type": "integer"], scalar.range, field.rules)
    case .float, .double: ranged(["type": "number"], nil, field.rules)
    case .string: measured(["type": "string"], field)
    case .id: measured(id, field)
    case .data: measured(["type": "string", "contentEncoding": "base64"], field)
    case .date: date(field)
    }
  }

  private func date(_ field: LocalField) -> JSONValue {
    switch dates {
    case nil: ["description": "A date in the format of the type that has the object."]
    case .seconds?: ["type": "number", "description": "Seconds since 1970."]
    case .milliseconds?: ["type": "number", "description": "Milliseconds since 1970."]
    case .iso8601?, .pattern?:
      measured(
        ["type": "string", "description": .string("Is \(dates?.phrase ?? "a date").")], field)
    }
  }

  /// A schema of numbers with the range of their scalar and of `@range`.
  private func ranged(
    _ value: JSONValue, _ range: ClosedRange<Int64>?, _ rules: LocalRules
  ) -> JSONValue {
    var value = value
    let minimum = [range.map { Double($0.lowerBound) }, rules.rangeMin].compactMap { $0 }.max()
    let maximum = [range.map { Double($0.upperBound) }, rules.rangeMax].compactMap { $0 }.min()
    if let minimum { value["minimum"] = Self.number(minimum) }
    if let maximum { value["maximum"] = Self.number(maximum) }
    return value
  }

  private static func number(_ value: Double) -> JSONValue {
    Int64(exactly: value).map { .number(JSONNumber($0)) }
      ?? JSONNumber(digits: "\(value)").map { .number($0) } ?? .null
  }

  /// A schema of texts with the lengths of `@length`, which count elements in a list.
  private func measured(_ value: JSONValue, _ field: LocalField) -> JSONValue {
    guard field.listDepth == 0 else { return value }
    var value = value
    if let minimum = field.rules.lengthMin { value["minLength"] = .number(JSONNumber(minimum)) }
    if let maximum = field.rules.lengthMax { value["maxLength"] = .number(JSONNumber(maximum)) }
    return value
  }
}
