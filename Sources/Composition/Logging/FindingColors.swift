/// Paints reports of faults, warnings and notes for a terminal: the word of the gravity, and carets.
package enum FindingColors {
  private static let words: [(word: String, color: TerminalColors.Color)] = [
    ("fault", .red), ("warning", .yellow), ("note", .yellow), ("breaking", .red),
  ]

  /// Returns the text with its colours; the same text where colours are off.
  package static func paint(_ text: String, _ colors: TerminalColors) -> String {
    guard colors.isOn else { return text }
    return text.split(separator: "\n", omittingEmptySubsequences: false)
      .map { paint(line: $0, colors) }.joined(separator: "\n")
  }

  private static func paint(line: Substring, _ colors: TerminalColors) -> String {
    if line.last == "^", line.dropLast().allSatisfy({ " |\t".contains($0) }) {
      return line.dropLast() + colors.paint("^", .red)
    }
    for (word, color) in words {
      // At the beginning, or after the place that a fault is at.
      if line.hasPrefix("\(word): ") {
        return colors.paint(word, color) + line.dropFirst(word.count)
      }
      if let range = line.firstRange(of: ": \(word): "), isPlace(line[..<range.lowerBound]) {
        return line[..<range.lowerBound] + ": " + colors.paint(word, color) + ": "
          + line[range.upperBound...]
      }
    }
    return String(line)
  }

  /// Whether a text can be a path, with a line and a column or without.
  private static func isPlace(_ text: Substring) -> Bool { !text.contains(": ") }
}
