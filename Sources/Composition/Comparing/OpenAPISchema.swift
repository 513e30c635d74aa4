import LosslessJSON

/// A JSON schema of an OpenAPI document with references, `allOf` and nullability resolved at its top.
struct OpenAPISchema {
  /// Types other than `null`; nil = any.
  var types: Set<String>?
  var isNullable = false
  /// Values other than `null`; nil = any.
  var values: Set<JSONValue>?
  /// In order.
  var properties: [JSONMember] = []
  var required: Set<String> = []
  /// Whether properties besides ``properties`` are refused.
  var isClosed = false
  var items: JSONValue?
  /// The forms of `oneOf` and `anyOf` besides `null`, if there are several.
  var forms: [JSONValue] = []
  /// Bounds: `maximum`, `maxLength`, `maxItems`, and the minima.
  var bounds: [String: Double] = [:]
  var pattern: String?

  /// Whether it allows every value.
  var isAny: Bool {
    types == nil && values == nil && properties.isEmpty && forms.isEmpty && items == nil
  }

  /// Names of bounds that narrow as they fall, and of those that narrow as they rise.
  static let upperBounds = ["maximum", "maxLength", "maxItems"]
  static let lowerBounds = ["minimum", "minLength", "minItems"]
}

/// Resolves parts of one OpenAPI document.
struct OpenAPIReader {
  /// The maximum number of references and `allOf`s in each other.
  private static let depthMax = 64

  let document: JSONValue

  /// Follows references to the object itself.
  func resolve(_ value: JSONValue) -> JSONValue {
    var value = value
    for _ in 0..<Self.depthMax {
      guard let target = value["$ref"]?.string.flatMap(self.target) else { return value }
      value = target
    }
    return .object([])
  }

  /// The value at a JSON pointer of this document (RFC 6901, as a URI fragment).
  private func target(_ reference: String) -> JSONValue? {
    guard reference.hasPrefix("#/") else { return nil }
    var value = document
    for part in reference.dropFirst(2).split(separator: "/", omittingEmptySubsequences: false) {
      let name = Self.percentDecoded(part).replacing("~1", with: "/").replacing("~0", with: "~")
      if value.array != nil {
        guard let index = Int(name), let element = value[index] else { return nil }
        value = element
      } else {
        guard let member = value[name] else { return nil }
        value = member
      }
    }
    return value
  }

  private static func percentDecoded(_ text: Substring) -> String {
    guard text.contains("%") else { return String(text) }
    var bytes: [UInt8] = []
    var rest = Array(text.utf8)[...]
    while let byte = rest.popFirst() {
      if byte == UInt8(ascii: "%"), rest.count >= 2,
        let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16)
      {
        bytes.append(value)
        rest = rest.dropFirst(2)
      } else {
        bytes.append(byte)
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// The maximum number of parts of one schema: `allOf` can name the same parts again and again.
  private static let partsMax = 10_000

  func schema(_ value: JSONValue) -> OpenAPISchema {
    var parts = Self.partsMax
    return schema(value, depth: 0, parts: &parts)
  }

  private func schema(_ value: JSONValue, depth: Int, parts: inout Int) -> OpenAPISchema {
    parts -= 1
    guard depth < Self.depthMax, parts > 0 else { return OpenAPISchema() }
    var result = OpenAPISchema()
    // OpenAPI 3.1 allows members beside a reference.
    if let target = value["$ref"]?.string.flatMap(self.target) {
      result = schema(target, depth: depth + 1, parts: &parts)
    }
    read(value, into: &result)
    for part in value["allOf"]?.array ?? [] {
      merge(schema(part, depth: depth + 1, parts: &parts), into: &result)
    }
    for name in ["oneOf", "anyOf"] {
      guard let forms = value[name]?.array else { continue }
      let others = forms.filter { !isNull($0) }
      if others.count < forms.count { result.isNullable = true }
      if others.count == 1, let only = others.first {
        merge(schema(only, depth: depth + 1, parts: &parts), into: &result)
      } else {
        result.forms += others
        // The types that the forms say themselves are together those of the whole.
        let types = others.map { form in
          var own = OpenAPISchema()
          read(resolve(form), into: &own)
          return own.types
        }
        if result.types == nil, !types.isEmpty, types.allSatisfy({ $0 != nil }) {
          result.types = types.reduce(into: []) { $0.formUnion($1 ?? []) }
        }
      }
    }
    return result
  }

  private func isNull(_ value: JSONValue) -> Bool {
    let value = resolve(value)
    if value["type"] == "null" || value["const"] == .null { return true }
    return value["enum"]?.array.map { $0 == [.null] } ?? false
  }

  private func read(_ value: JSONValue, into result: inout OpenAPISchema) {
    if let type = value["type"] {
      let names = type.string.map { [$0] } ?? type.array?.compactMap(\.string) ?? []
      if names.contains("null") { result.isNullable = true }
      result.types = Set(names).subtracting(["null"])
    }
    // OpenAPI 3.0.
    if value["nullable"] == true { result.isNullable = true }
    if let values = value["enum"]?.array ?? value["const"].map({ [$0] }) {
      if values.contains(.null) { result.isNullable = true }
      result.values = Set(values.filter { $0 != .null })
    }
    for property in value["properties"]?.members ?? [] {
      result.properties.removeAll { $0.name == property.name }
      result.properties.append(property)
    }
    result.required.formUnion((value["required"]?.array ?? []).compactMap(\.string))
    if value["additionalProperties"] == false || value["unevaluatedProperties"] == false {
      result.isClosed = true
    }
    if let items = value["items"] { result.items = items }
    for name in OpenAPISchema.upperBounds + OpenAPISchema.lowerBounds {
      if let number = value[name]?.number.flatMap({ Double($0.description) }) {
        result.bounds[name] = number
      }
    }
    if let pattern = value["pattern"]?.string { result.pattern = pattern }
  }

  /// Adds the demands of a part of `allOf`. A value must fulfil both.
  private func merge(_ part: OpenAPISchema, into result: inout OpenAPISchema) {
    if let types = part.types {
      result.types = result.types.map { $0.intersection(types) } ?? types
    }
    result.isNullable = result.isNullable || part.isNullable
    if let values = part.values {
      result.values = result.values.map { $0.intersection(values) } ?? values
    }
    for property in part.properties
    where !result.properties.contains(where: { $0.name == property.name }) {
      result.properties.append(property)
    }
    result.required.formUnion(part.required)
    result.isClosed = result.isClosed || part.isClosed
    result.items = result.items ?? part.items
    result.forms += part.forms
    result.bounds.merge(part.bounds) { own, _ in own }
    result.pattern = result.pattern ?? part.pattern
  }
}
