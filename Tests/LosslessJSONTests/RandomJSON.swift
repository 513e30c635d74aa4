import LosslessJSON

/// Generates JSON values and texts of every shape.
struct RandomJSON<Generator: RandomNumberGenerator> {
  var generator: Generator

  mutating func value(depth: Int = 0) -> JSONValue {
    switch Int.random(in: 0..<(depth > 4 ? 5 : 8), using: &generator) {
    case 0: .null
    case 1: .bool(Bool.random(using: &generator))
    case 2: .number(JSONNumber(digits: digits()) ?? 0)
    case 3, 4: .string(string())
    case 5, 6:
      .array((0..<Int.random(in: 0...5, using: &generator)).map { _ in value(depth: depth + 1) })
    default:
      .object(
        (0..<Int.random(in: 0...5, using: &generator)).map {
          JSONMember("\($0)" + string(), value(depth: depth + 1))
        })
    }
  }

  mutating func digits() -> String {
    var text = Bool.random(using: &generator) ? "-" : ""
    text +=
      Bool.random(using: &generator) ? "0" : "\(UInt64.random(in: 1...(.max), using: &generator))"
    if Bool.random(using: &generator) {
      text += ".0\(UInt16.random(in: 0...(.max), using: &generator))"
    }
    if Int.random(in: 0..<4, using: &generator) == 0 {
      text += ["e", "E", "e+", "e-"].randomElement(using: &generator).map { $0 + "12" } ?? ""
    }
    return text
  }

  mutating func string() -> String {
    let alphabet: [Unicode.Scalar] = [
      "a", "b", "\"", "\\", "/", "\n", "\u{0}", "\u{1F}", "\u{7F}", "é", "漢", "😀", "\u{2028}", "x",
    ]
    var text = ""
    for _ in 0..<Int.random(in: 0...20, using: &generator) {
      text.unicodeScalars.append(alphabet.randomElement(using: &generator) ?? "a")
    }
    return text
  }

  /// The same value with white space and escapes wherever they are allowed.
  mutating func looseText(of value: JSONValue) -> String {
    switch value {
    case .null, .bool, .number: return space() + value.text + space()
    case .string(let string): return space() + looseText(ofString: string) + space()
    case .array(let elements):
      var parts: [String] = []
      for element in elements { parts.append(looseText(of: element)) }
      return space() + "[" + (parts.isEmpty ? space() : parts.joined(separator: ",")) + "]"
        + space()
    case .object(let members):
      var parts: [String] = []
      for member in members {
        let name = space() + looseText(ofString: member.name) + space()
        parts.append(name + ":" + looseText(of: member.value))
      }
      return space() + "{" + (parts.isEmpty ? space() : parts.joined(separator: ",")) + "}"
        + space()
    }
  }

  private mutating func looseText(ofString string: String) -> String {
    var text = "\""
    for scalar in string.unicodeScalars {
      if scalar.value < 0x20 || Int.random(in: 0..<4, using: &generator) == 0 {
        for unit in String(scalar).utf16 {
          let digits = String(unit, radix: 16, uppercase: Bool.random(using: &generator))
          text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
        }
      } else if scalar == "\"" || scalar == "\\" {
        text += "\\\(Character(scalar))"
      } else {
        text.unicodeScalars.append(scalar)
      }
    }
    return text + "\""
  }

  private mutating func space() -> String {
    ["", "", "", " ", "\n", "\t\r ", "          "].randomElement(using: &generator) ?? ""
  }
}
