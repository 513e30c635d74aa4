package import LosslessJSON

/// The key of a local type: one field or several, each a scalar or an enum.
///
/// The id of an entity is formed from its key fields as for upstream's entities, see ``EntityKey``. The
/// key fields of a stored row always follow from its id. A text in a path or a reference is read by the
/// type of its field, so that each entity has one id however its key is written.
extension LocalType {
  /// The key's fields in declared order.
  package var keyParts: [LocalField] { keyFields.compactMap { field($0) } }

  /// The key's field, if the service makes the keys of new entities that have none: a single `ID`.
  package var madeKeyField: String? {
    let parts = keyParts
    return parts.count == 1 && parts[0].kind == .scalar(.id) ? parts[0].name : nil
  }

  package func isKey(_ field: String) -> Bool { keyFields.contains(field) }

  /// The fields that the body of a new entity must name.
  package var requiredFields: [LocalField] {
    fields.filter { !isKey($0.name) && $0.needsValue && !$0.isRelationship }
  }

  /// Returns the stored values of the key's fields that an id names; nil if no entity of the type can
  /// have this id.
  package func keyValues(of id: String) -> [(field: LocalField, value: JSONValue)]? {
    guard LocalValueReader.id(.string(id)) != nil else { return nil }
    let parts = keyParts
    guard
      let texts = parts.count == 1 ? [id] : EntityKey.fields(of: id, count: parts.count)
    else { return nil }
    var values: [(field: LocalField, value: JSONValue)] = []
    for (part, text) in zip(parts, texts) {
      guard let value = part.keyValue(of: text, dates: dates) else { return nil }
      values.append((part, value))
    }
    return values
  }

  /// Returns the id with the given stored values of the key's fields; nil if one is missing, or is no
  /// value of a key.
  package func id(of fields: [String: JSONValue]) -> String? {
    let texts = keyParts.compactMap { part in fields[part.name].flatMap(part.keyText) }
    guard texts.count == keyFields.count else { return nil }
    return EntityKey(type: name, fields: texts).key
  }

  /// Returns an id in the form in which it is stored: the key `7` for `7` and, if it is a number with a
  /// fraction, for `7.0`; nil if no entity of the type can have this id.
  package func canonicalID(_ id: String) -> String? {
    keyValues(of: id).flatMap { values in
      self.id(
        of: Dictionary(
          values.map { ($0.field.name, $0.value) }, uniquingKeysWith: { first, _ in first }))
    }
  }
}

extension LocalField {
  /// Returns the canonical text of a stored value of a key field; nil if it is no value of a key.
  package func keyText(of stored: JSONValue) -> String? {
    switch stored {
    case .string(let text): text
    case .bool(let flag): flag ? "true" : "false"
    case .number(let number):
      columnKind == .real ? number.double.map(Self.text) : number.int64?.description
    case .null, .array, .object: nil
    }
  }

  /// Returns the stored value of a key field that a path or a reference writes as text; nil if the field
  /// cannot have it.
  func keyValue(of text: String, dates: DateFormat) -> JSONValue? {
    guard case .scalar(let scalar) = kind else { return .string(text) }
    if let range = scalar.range {
      guard let number = JSONNumber(digits: text)?.int64, range.contains(number) else {
        return nil
      }
      return .number(JSONNumber(number))
    }
    switch scalar {
    case .boolean:
      return ["true": true, "false": false][text].map { .bool($0) }
    case .float, .double:
      guard let value = JSONNumber(digits: text)?.double, value.isFinite else { return nil }
      return JSONNumber(digits: Self.text(value)).map { .number($0) }
    case .date:
      // The stored form too, which references and changes show.
      return (dates.stored(text: text) ?? DateFormat.iso8601.stored(text: text)).map {
        .string($0)
      }
    case .data:
      return Base64Text.isValid(text) ? .string(text) : nil
    case .string, .id, .int, .int8, .int16, .int32, .int64:
      return .string(text)
    }
  }

  /// One text for each number, without a fraction if there is none.
  private static func text(_ number: Double) -> String {
    Int64(exactly: number)?.description ?? number.description
  }
}

extension LocalValueReader {
  /// Reads the value of a key field in a body.
  ///
  /// - Returns: its stored value; nil if it is invalid.
  package mutating func readKey(
    _ value: JSONValue, _ field: LocalField, dates: DateFormat, at pointer: String
  ) -> JSONValue? {
    if value.isNull, field.kind == .scalar(.id) {
      note("is not an id", at: pointer)
      return nil
    }
    guard let read = read(value, field, dates: dates, at: pointer) else { return nil }
    guard let text = field.keyText(of: read), Self.id(.string(text)) != nil else {
      note(
        "cannot be a key: it must have 1 to \(Self.idBytesMax) bytes and no control characters",
        at: pointer)
      return nil
    }
    return read
  }

  /// Returns the entity that a body refers to by its id; nil if no entity of the type can have it.
  ///
  /// - Parameter type: a local type; nil for one of upstream's.
  static func reference(_ value: JSONValue, to name: String, _ type: LocalType?) -> EntityKey? {
    guard let type else { return id(value).map { EntityKey(type: name, key: $0) } }
    var text = id(value)
    if text == nil, let part = type.keyParts.first, type.keyFields.count == 1 {
      switch part.columnKind {
      case .real: text = value.number?.digits
      case .boolean: text = value.bool.map { $0 ? "true" : "false" }
      case .text where part.kind == .scalar(.date): text = value.number?.digits
      case .integer, .text, .reference, nil: break
      }
    }
    return text.flatMap(type.canonicalID).map { EntityKey(type: name, key: $0) }
  }
}
