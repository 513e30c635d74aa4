/// Shows a line of the settings file with a caret under one place.
///
/// A line may hold secrets beside what is wrong with it, under names that are misspelled or not
/// known at all, and in comments. So only text that was seen to be harmless is shown (names, and
/// values of settings that hold no secret); everything else is masked.
struct SourceExcerpt {
  private static let mask = Array("***".unicodeScalars)
  private static let punctuation = Set(" \t:,{}[]\"'-#".unicodeScalars)
  /// Scalars of one line that are shown.
  private static let widthMax = 100

  private let lines: SourceLines
  /// By line: where harmless text begins, from 0, and how long it is.
  private var harmless: [Int: [Range<Int>]] = [:]

  init(_ text: String) {
    lines = SourceLines(Array(text.unicodeScalars))
  }

  /// Lets `text` be shown where it stands as it is, or in quotes without escapes, at `place`.
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
    case .map(let entries): for entry in entries { allow(entry.value) }
    }
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

  /// - Returns: the line to show, and where in it the column went.
  private func masked(
    _ line: [Unicode.Scalar], spans: [Range<Int>], column: Int
  ) -> (shown: [Unicode.Scalar], caret: Int) {
    var shown: [Unicode.Scalar] = []
    var caret: Int?
    /// `isMasked` shortens what it adds, so the column may fall inside it: then at its beginning.
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
