/// Text between marks, with each mark inside doubled: names and texts of SQL, strings of FTS5.
enum Quotation {
  /// Marks are looked for as SQLite looks for them, among scalars: a mark that an accent follows is
  /// one `Character` with it, unlike the mark.
  static func quoted(_ text: String, by mark: Unicode.Scalar = "\"") -> String {
    var quoted = String.UnicodeScalarView([mark])
    for scalar in text.unicodeScalars {
      quoted.append(scalar)
      if scalar == mark { quoted.append(mark) }
    }
    quoted.append(mark)
    return String(quoted)
  }
}
