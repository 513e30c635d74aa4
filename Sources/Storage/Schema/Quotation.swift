/// Quotes text and doubles each quotation mark inside: names and strings of SQL, strings of FTS5.
enum Quotation {
  /// Compares scalars as SQLite does, not characters: a mark followed by a combining accent is one
  /// `Character` with it, unlike the mark.
  static func quoted(_ text: String, by mark: Unicode.Scalar = "\"") -> String {
    if !text.unicodeScalars.contains(mark) { return "\(mark)\(text)\(mark)" }
    var quoted = String.UnicodeScalarView([mark])
    for scalar in text.unicodeScalars {
      quoted.append(scalar)
      if scalar == mark { quoted.append(mark) }
    }
    quoted.append(mark)
    return String(quoted)
  }
}
