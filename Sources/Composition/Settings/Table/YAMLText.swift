/// Values as they would stand in a settings file.
enum YAMLText {
  /// Plain where no YAML reader could take it for anything else, in double quotes otherwise.
  static func scalar(_ text: String) -> String {
    let isPlain =
      text.utf8.first.map { $0.isASCIIAlphanumeric || $0 == 0x2E || $0 == 0x2F } == true
      && text.utf8.allSatisfy { $0.isASCIIAlphanumeric || "._/:@%+=-".utf8.contains($0) }
      && !text.hasSuffix(":") && !["null", "yes", "no", "on", "off"].contains(text.lowercased())
    return isPlain ? text : quoted(text)
  }

  static func list(_ texts: [String]) -> String {
    "[\(texts.map(scalar).joined(separator: ", "))]"
  }

  private static func quoted(_ text: String) -> String {
    var result = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"", "\\": result += "\\\(scalar)"
      case _ where scalar.isControl:
        result += "\\u" + String(scalar.value + 0x10000, radix: 16).dropFirst()
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result + "\""
  }
}
