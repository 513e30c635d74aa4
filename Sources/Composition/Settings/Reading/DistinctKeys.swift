import Yams

/// What stops a text from being YAML. Its own words only: Yams' quote the line, and with it what
/// may be a secret.
struct YAMLFault: Error {
  let problem: String
  let line: Int
  let column: Int
}

/// Composes text in which a name may stand twice.
///
/// Yams gives up at the first section with a doubled name, without telling where the second one
/// stands, and every other fault would go unreported. So the first letter of the one it names is
/// replaced by a private-use scalar, which moves nothing, and the text is composed again;
/// ``renamed`` lets the reader put the letter back and find the double itself.
struct DistinctKeys {
  struct Position: Hashable {
    let line: Int
    let column: Int
  }

  /// Doubled names after which the file is given up.
  private static let renamedMax = 100
  private static let firstPrivateUse: UInt32 = 0xE000

  private var scalars: [Unicode.Scalar]
  private(set) var renamed: [Position: Unicode.Scalar] = [:]

  init(text: String) {
    scalars = Array(text.unicodeScalars)
  }

  mutating func compose() throws(YAMLFault) -> Node? {
    while true {
      let text = String(String.UnicodeScalarView(scalars))
      do {
        // No resolver: what a text stands for is the settings' business, and Yams' own compiles
        // regular expressions, for which it takes megabytes. Named encoding: the default one asks
        // the environment, and prints what it finds.
        return try Yams.compose(yaml: text, .basic, .default, .utf8)
      } catch YamlError.duplicatedKeysInMapping(let names, let context) {
        guard rename(at: context.mark) else {
          throw YAMLFault(
            problem: "\(names.map { "`\($0)`" }.joined(separator: ", ")) stands there twice",
            line: context.mark.line, column: context.mark.column)
        }
      } catch {
        throw YAMLFault(error, in: text)
      }
    }
  }

  private mutating func rename(at mark: Mark) -> Bool {
    let position = Position(line: mark.line, column: mark.column)
    guard renamed.count < Self.renamedMax, renamed[position] == nil,
      let substitute = Unicode.Scalar(Self.firstPrivateUse + UInt32(renamed.count)),
      var index = SourceLines(scalars).offset(line: mark.line, column: mark.column)
    else { return false }
    if scalars[index] == "\"" || scalars[index] == "'" { index += 1 }
    guard index < scalars.count else { return false }
    renamed[position] = scalars[index]
    scalars[index] = substitute
    return true
  }
}

extension YAMLFault {
  fileprivate init(_ error: any Error, in text: String) {
    switch error {
    case YamlError.scanner(let context, let problem, let mark, _),
      YamlError.parser(let context, let problem, let mark, _),
      YamlError.composer(let context, let problem, let mark, _):
      let start = context.map { "\($0.text) from line \($0.mark.line): " } ?? ""
      self.init(problem: start + problem, line: mark.line, column: mark.column)
    case YamlError.reader(let problem, let offset, _, _):
      let before = SourceLines(Array(text.prefix(offset ?? 0).unicodeScalars))
      self.init(problem: problem, line: before.count, column: before.lastLineLength + 1)
    default:
      self.init(problem: "it cannot be read", line: 1, column: 1)
    }
  }
}
