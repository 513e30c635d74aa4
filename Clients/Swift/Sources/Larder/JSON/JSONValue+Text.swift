public import Foundation

/// Text that is no JSON, or more than one value.
struct JSONSyntaxError: Error {
  /// The first byte that cannot stand where it does.
  let offset: Int
}

extension JSONValue {
  /// Reads one value, of up to 200 levels.
  ///
  /// - Throws: ``LarderError/unexpectedContent(_:)``.
  public init(parsing text: some Sequence<UInt8>) throws(LarderError) {
    var parser = JSONParser(Array(text))
    do {
      self = try parser.document()
    } catch {
      throw .unexpectedContent("The text is no JSON from byte \(error.offset) on.")
    }
  }

  /// Reads one value of a text.
  public init(parsing text: String) throws(LarderError) {
    try self.init(parsing: text.utf8)
  }

  /// The JSON text. Members are in the order of their names, so equal values have equal texts.
  public var text: String {
    var bytes: [UInt8] = []
    write(to: &bytes)
    return String(decoding: bytes, as: UTF8.self)
  }

  /// The JSON text in UTF-8.
  public var data: Data {
    var bytes: [UInt8] = []
    write(to: &bytes)
    return Data(bytes)
  }

  func write(to bytes: inout [UInt8]) {
    switch self {
    case .null: bytes.append(contentsOf: "null".utf8)
    case .bool(let flag): bytes.append(contentsOf: (flag ? "true" : "false").utf8)
    case .number(let number): bytes.append(contentsOf: number.digits.utf8)
    case .string(let text): Self.write(text, to: &bytes)
    case .array(let elements):
      bytes.append(UInt8(ascii: "["))
      for (index, element) in elements.enumerated() {
        if index > 0 { bytes.append(UInt8(ascii: ",")) }
        element.write(to: &bytes)
      }
      bytes.append(UInt8(ascii: "]"))
    case .object(let members):
      bytes.append(UInt8(ascii: "{"))
      for (index, name) in members.keys.sorted().enumerated() {
        if index > 0 { bytes.append(UInt8(ascii: ",")) }
        Self.write(name, to: &bytes)
        bytes.append(UInt8(ascii: ":"))
        members[name]?.write(to: &bytes)
      }
      bytes.append(UInt8(ascii: "}"))
    }
  }

  private static func write(_ text: String, to bytes: inout [UInt8]) {
    bytes.append(UInt8(ascii: "\""))
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "\""), UInt8(ascii: "\\"):
        bytes.append(UInt8(ascii: "\\"))
        bytes.append(byte)
      case 0..<0x20:
        bytes.append(contentsOf: "\\u00".utf8)
        bytes.append(contentsOf: [digits[Int(byte >> 4)], digits[Int(byte & 15)]])
      default: bytes.append(byte)
      }
    }
    bytes.append(UInt8(ascii: "\""))
  }

  private static let digits = Array("0123456789abcdef".utf8)
}
