/// A text's lines as scalars, in which YAML counts columns.
struct SourceLines {
  private let lines: [ArraySlice<Unicode.Scalar>]

  init(_ scalars: [Unicode.Scalar]) {
    lines = scalars.split(omittingEmptySubsequences: false) { Self.breaks.contains($0) }
  }

  /// YAML 1.1's line breaks, with CR LF already made one.
  private static let breaks: Set<Unicode.Scalar> = ["\n", "\r", "\u{85}", "\u{2028}", "\u{2029}"]

  /// Nil past the end. - Parameter number: from 1.
  func line(_ number: Int) -> [Unicode.Scalar]? {
    lines.indices.contains(number - 1) ? Array(lines[number - 1]) : nil
  }

  /// Where a place stands in the whole text, from 0. - Parameters: both from 1.
  func offset(line number: Int, column: Int) -> Int? {
    guard lines.indices.contains(number - 1), column > 0 else { return nil }
    let line = lines[number - 1]
    return column <= line.count ? line.startIndex + column - 1 : nil
  }

  var count: Int { lines.count }
  var lastLineLength: Int { lines.last?.count ?? 0 }
}
