import Yams

/// The reason why text is not YAML, without the messages of Yams, which quote the line and so can
/// contain a secret.
struct YAMLFault: Error {
  let problem: String
  let line: Int
  let column: Int

  /// The reason for a fault that is placed at the text as a whole.
  var inText: String { "line \(line), column \(column) is not YAML: \(problem)" }
}

extension YAMLFault {
  /// - Parameter text: the text that was parsed.
  init(_ error: any Error, in text: String) {
    switch error {
    case YamlError.scanner(let context, let problem, let mark, _),
      YamlError.parser(let context, let problem, let mark, _),
      YamlError.composer(let context, let problem, let mark, _):
      self.init(problem, at: mark, context.map { ($0.text, $0.mark) })
    case YamlError.reader(let problem, let offset, _, _):
      let before = SourceLines(Array(text.prefix(offset ?? 0).unicodeScalars))
      self.init(problem: problem, line: before.count, column: before.lastLineLength + 1)
    default:
      self.init(problem: "the text cannot be parsed", line: 1, column: 1)
    }
  }

  /// Places a fault where the author has to look: what is open and never closed is at fault where it begins,
  /// although the parser finds that out at the end of the text.
  ///
  /// - Parameter context: what libyaml was reading, and where that began.
  private init(_ problem: String, at mark: Mark, _ context: (text: String, start: Mark)?) {
    let before = "before line \(mark.line), column \(mark.column)"
    switch (context?.text, problem) {
    case ("while parsing a flow sequence", _):
      self.init("in the list that begins here, a ',' or ']' is missing \(before)", context?.start)
    case ("while parsing a flow mapping", _):
      self.init(
        "in the section that begins here, a ',' or '}' is missing \(before)", context?.start)
    case ("while scanning a quoted scalar", "found unexpected end of stream"),
      ("while scanning a quoted scalar", "found unexpected document indicator"):
      self.init("the quoted text that begins here does not end", context?.start)
    case ("while scanning a simple key", _):
      self.init("this name has no ':'", context?.start)
    default:
      let start = context.map {
        " (\($0.text) from line \($0.start.line), column \($0.start.column))"
      }
      self.init(Self.explained[problem] ?? problem + (start ?? ""), mark)
    }
  }

  private init(_ problem: String, _ mark: Mark?) {
    self.init(problem: problem, line: mark?.line ?? 1, column: mark?.column ?? 1)
  }

  /// Messages of libyaml, with what to do.
  private static let explained = [
    "did not find expected key":
      "a name is expected here; indent all names of a section alike",
    "did not find expected '-' indicator":
      "an element with '-' is expected here; indent all elements of a list alike",
    "mapping values are not allowed in this context":
      "no ':' can be here; quote a value that contains one, and indent all names of a section alike",
    "found character that cannot start any token":
      "nothing can begin with this character; quote the value, and indent with spaces instead of tabs",
    "found undefined alias": "no anchor has this name; quote a value that begins with '*'",
    "found unknown escape character":
      "no character is written so; write '\\\\' for a backslash, or quote the value with '…'",
  ]
}
