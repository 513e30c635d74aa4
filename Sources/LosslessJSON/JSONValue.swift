/// A JSON value as a small tree, for variables, settings and tests.
///
/// Large responses stay in a `JSONDocument`. Equality distinguishes everything that the text
/// distinguishes, such as member order and number digits; compare `canonicalText` to ignore order.
package indirect enum JSONValue: Sendable, Hashable {
  case null
  case bool(Bool)
  case number(JSONNumber)
  case string(String)
  case array([JSONValue])
  /// Members in order; repeated names are kept, and lookup finds the first.
  case object([JSONMember])

  package init(_ node: JSONNode) {
    switch node.kind {
    case .null: self = .null
    case .false: self = .bool(false)
    case .true: self = .bool(true)
    case .number: self = .number(JSONNumber(unchecked: node.rawText))
    case .string: self = .string(node.string ?? "")
    case .array: self = .array(node.elements.map(JSONValue.init))
    case .object: self = .object(node.members.map { JSONMember($0.name, JSONValue($0.value)) })
    }
  }

  package init(
    parsing bytes: [UInt8], limits: JSONLimits = JSONLimits()
  ) throws(JSONParseError) {
    self.init(try JSONDocument(bytes, limits: limits).root)
  }

  package init(
    parsing text: String, limits: JSONLimits = JSONLimits()
  ) throws(JSONParseError) {
    self.init(try JSONDocument(text: text, limits: limits).root)
  }

  /// Parses a text that was validated on receipt: see ``JSONDocument/init(checked:)``.
  package init(checked bytes: [UInt8]) throws(JSONParseError) {
    self.init(try JSONDocument(checked: bytes).root)
  }

  package init(checked text: String) throws(JSONParseError) {
    try self.init(checked: Array(text.utf8))
  }

  package var isNull: Bool { self == .null }

  package var bool: Bool? {
    if case .bool(let value) = self { value } else { nil }
  }

  package var string: String? {
    if case .string(let value) = self { value } else { nil }
  }

  package var number: JSONNumber? {
    if case .number(let value) = self { value } else { nil }
  }

  package var int64: Int64? { number?.int64 }

  package var array: [JSONValue]? {
    if case .array(let value) = self { value } else { nil }
  }

  package var members: [JSONMember]? {
    if case .object(let value) = self { value } else { nil }
  }

  /// The first member with this name; setting replaces it, appends it, or (nil) removes it.
  /// Setting on a value other than an object has no effect.
  package subscript(name: String) -> JSONValue? {
    get { members?.first { $0.name == name }?.value }
    set {
      guard case .object(var members) = self else { return }
      let place = members.firstIndex { $0.name == name }
      switch (place, newValue) {
      case (let place?, let value?): members[place].value = value
      case (nil, let value?): members.append(JSONMember(name, value))
      case (let place?, nil): members.remove(at: place)
      case (nil, nil): return
      }
      self = .object(members)
    }
  }

  /// The element at a position; nil outside an array's bounds.
  package subscript(position: Int) -> JSONValue? {
    guard case .array(let values) = self, values.indices.contains(position) else { return nil }
    return values[position]
  }
}

/// A name and its value in a `JSONValue` object.
package struct JSONMember: Sendable, Hashable {
  package var name: String
  package var value: JSONValue

  package init(_ name: String, _ value: JSONValue) {
    self.name = name
    self.value = value
  }
}

extension [JSONMember] {
  /// The size up to which pairwise comparison is faster than a set.
  private static let fewMax = 16

  /// The positions of members whose name occurred before.
  package var repeatedPositions: Set<Int> {
    var seen: Set<String> = []
    return Set(
      indices.filter { position in
        let name = self[position].name
        if count <= Self.fewMax { return self[..<position].contains { $0.name == name } }
        return !seen.insert(name).inserted
      })
  }
}

/// The kinds of JSON values, with the two Booleans distinguished (RFC 8259, section 3).
package enum JSONKind: UInt8, Sendable, Hashable {
  case null
  case `false`
  case `true`
  case number
  case string
  case array
  case object
}

/// Without `nil` literals: `isValid ? value : nil` would be JSON's null instead of an absent value.
extension JSONValue: ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
  ExpressibleByFloatLiteral, ExpressibleByStringLiteral, ExpressibleByArrayLiteral,
  ExpressibleByDictionaryLiteral
{
  package init(booleanLiteral value: Bool) { self = .bool(value) }
  package init(integerLiteral value: Int64) { self = .number(JSONNumber(value)) }
  package init(floatLiteral value: Double) {
    self = JSONNumber(value).map(JSONValue.number) ?? .null
  }
  package init(stringLiteral value: String) { self = .string(value) }
  package init(arrayLiteral elements: JSONValue...) { self = .array(elements) }

  package init(dictionaryLiteral elements: (String, JSONValue)...) {
    self = .object(elements.map { JSONMember($0.0, $0.1) })
  }
}
