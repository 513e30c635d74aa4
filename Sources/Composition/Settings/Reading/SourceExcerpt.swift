/// Shows a line of the settings file with a caret under one place.
///
/// A line can contain secrets beside the fault, under misspelled or unknown names, and in comments.
/// So only text known to be harmless is shown (names, and values of settings that are not secret);
/// everything else is masked.
struct SourceExcerpt {
  private static let mask = Array("***".unicodeScalars)
  private static let punctuation = Set(" \t:,{}[]\"'-#".unicodeScalars)
  /// Maximum number of scalars of a line that are shown.
  private static let widthMax = 100

  private let lines: SourceLines
  /// Ranges of harmless text by line, counted in scalars from 0.
  private var harmless: [Int: [Range<Int>]] = [:]

  init(_ text: String) {
    lines = SourceLines(Array(text.unicodeScalars))
  }

  /// Allows `text` to be shown if it is written at `place` literally, or in quotes without escapes.
  mutating func allow(_ text: String, at place: SettingPlace) {
    guard case .file(_, let number, let column) = place, let line = lines.line(number) else {
      return
    }
    let letters = Array(text.unicodeScalars)
    var start = column - 1
    if line.indices.contains(start), line[start] == "\"" || line[start] == "'" { start += 1 }
    guard start + letters.count <= line.count, line[start...].starts(with: letters) else { return }
    harmless[number, default: []].append(start..<start + letters.count)
  }

  mutating func allow(_ value: RawValue) {
    switch value.form {
    case .empty: break
    case .text(let text): allow(text, at: value.place)
    case .list(let items): for item in items { allow(item) }
    case .map(let entries):
      for entry in entries {
        allow(entry.name, at: entry.place)
        allow(entry.value)
      }
    }
  }

  /// Allows names to be shown where they stand before a colon, in a text that cannot be parsed.
  mutating func allowNames(of known: Set<String>) {
    for number in 1...max(lines.count, 1) {
      guard let line = lines.line(number) else { continue }
      var start = 0
      while start < line.count {
        guard Self.isOfName(line[start]) else {
          start += 1
          continue
        }
        let end = line[start...].firstIndex { !Self.isOfName($0) } ?? line.count
        let colon = line[end...].firstIndex { $0 != " " }
        let isName =
          colon.map { line[$0] == ":" && ($0 + 1 == line.count || line[$0 + 1] == " ") } ?? false
        let name = String(String.UnicodeScalarView(line[start..<end]))
        let isAlone = start == 0 || Self.punctuation.contains(line[start - 1])
        if isName, isAlone, known.contains(name) {
          harmless[number, default: []].append(start..<end)
        }
        start = end
      }
    }
  }

  private static func isOfName(_ scalar: Unicode.Scalar) -> Bool {
    scalar.isASCII && (scalar.properties.isAlphabetic || ("0"..."9").contains(scalar))
  }

  func show(_ place: SettingPlace) -> String? {
    guard case .file(_, let number, let column) = place, let line = lines.line(number) else {
      return nil
    }
    var (shown, caret) = masked(line, spans: harmless[number] ?? [], column: column - 1)
    if caret > Self.widthMax {
      shown.removeFirst(caret - Self.widthMax / 2)
      caret = Self.widthMax / 2
    }
    let visible = String(String.UnicodeScalarView(shown.prefix(Self.widthMax)))
    let margin = String(repeating: " ", count: "\(number)".count)
    return "  \(number) | \(visible)\n  \(margin) | \(String(repeating: " ", count: caret))^"
  }

  /// - Returns: the line to show, and the position of the column in it.
  private func masked(
    _ line: [Unicode.Scalar], spans: [Range<Int>], column: Int
  ) -> (shown: [Unicode.Scalar], caret: Int) {
    var shown: [Unicode.Scalar] = []
    var caret: Int?
    /// Adds a range. Masking shortens it; a column inside it then moves to its beginning.
    func add(_ range: Range<Int>, isMasked: Bool) {
      if caret == nil, range.contains(column) {
        caret = shown.count + (isMasked ? 0 : column - range.lowerBound)
      }
      shown += isMasked ? Self.mask : Array(line[range])
    }
    var position = 0
    for span in spans.sorted(by: { $0.lowerBound < $1.lowerBound }) + [line.count..<line.count]
    where span.lowerBound >= position {
      let gap = position..<span.lowerBound
      let isSecret = { (index: Int) in !Self.punctuation.contains(line[index]) }
      if let first = gap.first(where: isSecret), let last = gap.last(where: isSecret) {
        add(gap.lowerBound..<first, isMasked: false)
        add(first..<last + 1, isMasked: true)
        add(last + 1..<gap.upperBound, isMasked: false)
      } else {
        add(gap, isMasked: false)
      }
      add(span, isMasked: false)
      position = span.upperBound
    }
    return (shown, caret ?? shown.count)
  }
}

/// The lines of a text as Unicode scalars, in which YAML counts columns.
struct SourceLines {
  private let lines: [ArraySlice<Unicode.Scalar>]

  init(_ scalars: [Unicode.Scalar]) {
    lines = scalars.split(omittingEmptySubsequences: false) { Self.breaks.contains($0) }
  }

  /// The line breaks of YAML 1.1, with CR LF already reduced to one.
  private static let breaks: Set<Unicode.Scalar> = ["\n", "\r", "\u{85}", "\u{2028}", "\u{2029}"]

  /// The line, or nil past the end.
  ///
  /// - Parameter number: counted from 1.
  func line(_ number: Int) -> [Unicode.Scalar]? {
    lines.indices.contains(number - 1) ? Array(lines[number - 1]) : nil
  }

  /// The offset of a place in the whole text, from 0. Line and column are counted from 1.
  func offset(line number: Int, column: Int) -> Int? {
    guard lines.indices.contains(number - 1), column > 0 else { return nil }
    let line = lines[number - 1]
    return column <= line.count ? line.startIndex + column - 1 : nil
  }

  var count: Int { lines.count }
  var lastLineLength: Int { lines.last?.count ?? 0 }
}
