/// A JSON value as a small tree, for variables, settings and tests.
///
/// Answers of any size stay in a `JSONDocument`. Equality keeps everything apart that the text keeps
/// apart: member order and number digits count; compare `canonicalText` where order must not.
package indirect enum JSONValue: Sendable, Hashable {
  case null
  case bool(Bool)
  case number(JSONNumber)
  case string(String)
  case array([JSONValue])
  /// Members in order; a repeated name is kept, and look-up takes the first.
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

  /// The value of a text that was checked when it came in: see ``JSONDocument/init(checked:)``.
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
  /// Setting on anything but an object has no effect.
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
