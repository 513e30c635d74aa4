import GraphQL

/// Writes leaf values as their type demands (specification 3.5, result coercion).
enum LeafSerializer {
  /// The JSON text of a value; nil where it is none of the type's.
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
