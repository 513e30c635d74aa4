import LosslessJSON

/// JSON texts: an accepted text parses to the same value after every way of writing it, and each prefix and
/// part of it is parsed or refused without harm.
enum JSONTextTarget {
  static func run(_ input: UnsafeRawBufferPointer) {
    let bytes = Array(input)
    guard let document = try? JSONDocument(bytes) else {
      return Finding.require(!isPlainNumber(bytes), "a number is refused")
    }
    let value = JSONValue(document.root)
    let text = value.bytes
    Finding.require((try? JSONValue(parsing: text)) == value, "a value changes in a round trip")
    var writer = JSONWriter()
    writer.value(document.root)
    guard let copy = try? JSONDocument(writer.bytes) else {
      return Finding.require(false, "a node is written as no JSON")
    }
    Finding.require(JSONValue(copy.root) == value, "a node changes in a round trip")
    Finding.require(copy.isCompact, "white space is written")
    let canonical = value.canonicalText
    Finding.require(
      (try? JSONValue(parsing: canonical))?.canonicalText == canonical, "two canonical texts")
    walk(document.root, value)
    embed(bytes)
  }

  /// Calls every accessor of every node.
  private static func walk(_ node: JSONNode, _ value: JSONValue) {
    switch value {
    case .null: Finding.require(node.isNull, "null is not")
    case .bool(let flag): Finding.require(node.bool == flag, "a flag differs")
    case .string(let text): Finding.require(node.string == text, "a string differs")
    case .number(let number):
      Finding.require(node.number == number && node.int64 == number.int64, "a number differs")
      Finding.require(JSONNumber(digits: number.digits) == number, "digits are refused")
      Finding.require(node.double == number.double && node.double != nil, "no double")
    case .array(let values):
      Finding.require(node.count == values.count, "elements are missing")
      for (element, value) in zip(node.elements, values) { walk(element, value) }
    case .object(let members):
      Finding.require(node.count == members.count, "members are missing")
      for (member, known) in zip(node.members, members) {
        Finding.require(member.name == known.name && member.isNamed(known.name), "a name differs")
        Finding.require(node[known.name] != nil, "a member is not found")
        walk(member.value, known.value)
      }
    }
  }

  /// The same text inside a larger array.
  private static func embed(_ bytes: [UInt8]) {
    let padded = Array("[\"\\".utf8) + bytes + Array("]}\"1".utf8)
    let document = try? JSONDocument(padded, range: 3..<3 + bytes.count)
    Finding.require(document != nil, "the bytes around a text matter")
  }

  /// Whether the bytes are digits without a leading zero: a second, very small parser.
  private static func isPlainNumber(_ bytes: [UInt8]) -> Bool {
    guard let first = bytes.first, (0x31...0x39).contains(first) else { return false }
    return bytes.allSatisfy { (0x30...0x39).contains($0) }
  }
}
