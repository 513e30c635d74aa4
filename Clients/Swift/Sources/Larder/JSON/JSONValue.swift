/// A JSON value whose numbers keep their digits.
public enum JSONValue: Hashable, Sendable {
  case null
  case bool(Bool)
  case number(JSONNumber)
  case string(String)
  case array([JSONValue])
  case object([String: JSONValue])

  /// The member of an object; nil if there is none, or if this is no object.
  public subscript(name: String) -> JSONValue? {
    if case .object(let members) = self { members[name] } else { nil }
  }

  /// The text; nil if this is none.
  public var string: String? {
    if case .string(let text) = self { text } else { nil }
  }

  /// The integer; nil if this is none, or does not fit.
  public var int: Int? {
    if case .number(let number) = self { number.int } else { nil }
  }

  /// The number; nil if this is none.
  public var double: Double? {
    if case .number(let number) = self { number.double } else { nil }
  }

  /// The flag; nil if this is none.
  public var bool: Bool? {
    if case .bool(let flag) = self { flag } else { nil }
  }

  /// The elements; nil if this is no array.
  public var array: [JSONValue]? {
    if case .array(let elements) = self { elements } else { nil }
  }

  /// The members; nil if this is no object.
  public var object: [String: JSONValue]? {
    if case .object(let members) = self { members } else { nil }
  }

  var isNull: Bool { self == .null }
}

/// A number as it is written in JSON. Two numbers are equal if their digits are.
public struct JSONNumber: Hashable, Sendable {
  /// The number as it is written.
  public let digits: String

  init(digits: String) {
    self.digits = digits
  }

  /// An integer of any width.
  public init(_ value: some BinaryInteger) {
    digits = String(value)
  }

  /// - Precondition: `value` is finite.
  public init(_ value: Double) {
    precondition(value.isFinite, "JSON has no \(value).")
    digits = value == value.rounded() && abs(value) < 1e15 ? String(Int64(value)) : "\(value)"
  }

  /// The value, if it is an integer that fits.
  public var int: Int? { Int(digits) ?? Int(exactly: double) }

  /// The nearest double.
  public var double: Double { Double(digits) ?? .nan }
}

extension JSONValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral,
  ExpressibleByFloatLiteral, ExpressibleByBooleanLiteral, ExpressibleByNilLiteral,
  ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
  public init(stringLiteral value: String) { self = .string(value) }
  public init(integerLiteral value: Int) { self = .number(JSONNumber(value)) }
  public init(floatLiteral value: Double) { self = .number(JSONNumber(value)) }
  public init(booleanLiteral value: Bool) { self = .bool(value) }
  public init(nilLiteral: ()) { self = .null }
  public init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
  public init(dictionaryLiteral elements: (String, JSONValue)...) {
    self = .object(Dictionary(elements) { _, last in last })
  }
}

extension JSONValue: ExpressibleByStringInterpolation {}
