/// A scalar of local types.
package enum LocalScalar: String, Hashable, Sendable, CaseIterable {
  case boolean = "Boolean"
  case int = "Int"
  case int8 = "Int8"
  case int16 = "Int16"
  case int32 = "Int32"
  case int64 = "Int64"
  case float = "Float"
  case double = "Double"
  case string = "String"
  case id = "ID"
  /// A day or a moment, written in its type's ``DateFormat``.
  case date = "Date"
  /// Bytes in base64 (RFC 4648 section 4).
  case data = "Data"

  var columnKind: EntityType.Column.Kind {
    switch self {
    case .boolean: .boolean
    case .int, .int8, .int16, .int32, .int64: .integer
    case .float, .double: .real
    case .string, .id, .date, .data: .text
    }
  }

  /// The range of an integer scalar; nil for others.
  package var range: ClosedRange<Int64>? {
    switch self {
    case .int8: Int64(Int8.min)...Int64(Int8.max)
    case .int16: Int64(Int16.min)...Int64(Int16.max)
    case .int, .int32: Int64(Int32.min)...Int64(Int32.max)
    case .int64: Int64.min...Int64.max
    case .boolean, .float, .double, .string, .id, .date, .data: nil
    }
  }

  package var isNumber: Bool { range != nil || self == .float || self == .double }

  package var isText: Bool {
    switch self {
    case .string, .id, .date, .data: true
    case .boolean, .int, .int8, .int16, .int32, .int64, .float, .double: false
    }
  }
}

/// The check that a text is base64 with padding (RFC 4648 section 4).
enum Base64Text {
  static func isValid(_ text: String) -> Bool {
    let bytes = text.utf8
    guard bytes.count % 4 == 0 else { return false }
    let padding = bytes.reversed().prefix { $0 == UInt8(ascii: "=") }.count
    guard padding <= 2 else { return false }
    return bytes.dropLast(padding).allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "/"):
        true
      default: false
      }
    }
  }
}
