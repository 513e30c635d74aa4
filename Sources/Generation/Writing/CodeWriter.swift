/// Indented lines of code.
struct CodeWriter {
  static let columnsMax = 100

  private(set) var text = ""
  private var depth = 0
  private let indent: String

  init(indent: String) {
    self.indent = indent
  }

  mutating func line(_ line: String = "") {
    text += line.isEmpty ? "\n" : prefix + line + "\n"
  }

  /// Writes lines between an opening and a closing line.
  mutating func block(
    _ opening: String, closing: String = "}", _ body: (inout CodeWriter) -> Void
  ) {
    line(opening)
    indented(body)
    line(closing)
  }

  mutating func indented(_ body: (inout CodeWriter) -> Void) {
    depth += 1
    body(&self)
    depth -= 1
  }

  /// Writes elements between `opening` and `closing`: in one line if it is short enough, otherwise an
  /// element a line.
  mutating func list(
    _ opening: String, _ elements: [String], _ closing: String, comma: Bool = false
  ) {
    let whole = opening + elements.joined(separator: ", ") + closing
    guard !elements.isEmpty, prefix.count + whole.count > Self.columnsMax else {
      return line(whole)
    }
    line(opening)
    depth += 1
    for (index, element) in elements.enumerated() {
      line(element + (index < elements.count - 1 || comma ? "," : ""))
    }
    depth -= 1
    line(closing)
  }

  /// Wraps words to lines that begin with a mark.
  mutating func comment(_ words: String, mark: String) {
    for paragraph in words.split(separator: "\n", omittingEmptySubsequences: false) {
      var current = ""
      for word in paragraph.split(separator: " ") {
        let next = current.isEmpty ? String(word) : "\(current) \(word)"
        if !current.isEmpty, prefix.count + mark.count + next.count > Self.columnsMax {
          line(mark + current)
          current = String(word)
        } else {
          current = next
        }
      }
      line(current.isEmpty ? String(mark.dropLast()) : mark + current)
    }
  }

  private var prefix: String { String(repeating: indent, count: depth) }
}

/// The texts of documentation comments.
enum Documentation {
  /// Returns a description, and the reason of a deprecation as its last paragraph; nil without both.
  static func text(_ description: String?, deprecation: String? = nil) -> String? {
    let own = description.map(trimmed).flatMap { $0.isEmpty ? nil : $0 }
    let parts = [own, deprecation.map { "Deprecated: \(trimmed($0))" }].compactMap { $0 }
    return parts.isEmpty ? nil : parts.joined(separator: "\n\n")
  }

  /// One space for control characters and line breaks other than a line feed.
  private static func trimmed(_ text: String) -> String {
    let lines = text.split(omittingEmptySubsequences: false) { $0 == "\n" || $0 == "\r\n" }
    let plain = lines.map { line in
      String(
        line.unicodeScalars.map { scalar -> Character in
          let isBreak = scalar == "\u{2028}" || scalar == "\u{2029}" || scalar == "\u{85}"
          return isBreak || scalar.value < 0x20 || scalar.value == 0x7F ? " " : Character(scalar)
        })
    }
    var rows = plain.map { row in row.split(separator: " ").joined(separator: " ") }
    while rows.first?.isEmpty == true { rows.removeFirst() }
    while rows.last?.isEmpty == true { rows.removeLast() }
    return rows.joined(separator: "\n")
  }
}
