import Model

/// Splits a filter's text into tokens.
struct FilterLexer {
  /// The longest number, so that a list of many is read in one pass.
  private static let numberCharactersMax = 400

  /// The longest number of a duration; so many days in seconds fit an integer.
  private static let durationDigitsMax = 9

  private let characters: [Character]
  private var index = 0

  private init(_ text: String) {
    characters = Array(text)
  }

  static func tokens(of text: String) throws(FilterFaults) -> [FilterToken] {
    var lexer = FilterLexer(text)
    var tokens: [FilterToken] = []
    while true {
      let token = try lexer.next()
      tokens.append(token)
      if token.kind == .end { return tokens }
    }
  }

  private mutating func next() throws(FilterFaults) -> FilterToken {
    while index < characters.count, characters[index].isWhitespace { index += 1 }
    let start = index
    return FilterToken(kind: try kind(), offset: start)
  }

  private mutating func kind() throws(FilterFaults) -> FilterToken.Kind {
    guard index < characters.count else { return .end }
    let first = characters[index]
    switch first {
    case "(": return take(1, .open)
    case ")": return take(1, .close)
    case ",": return take(1, .comma)
    case "?": return take(1, .nextParameter)
    case "-", "+": return take(1, .sign(String(first)))
    case "'": return .text(try quoted(by: "'"))
    case "\"": return .path(try path(from: try quoted(by: "\"")))
    case "[": return .folding(try folding())
    case ":": return try namedParameter()
    case "=", "<", ">", "!": return try comparison()
    case "0"..."9", ".": return try number()
    default: return try word()
    }
  }

  private mutating func take(_ count: Int, _ kind: FilterToken.Kind) -> FilterToken.Kind {
    index += count
    return kind
  }

  private mutating func comparison() throws(FilterFaults) -> FilterToken.Kind {
    let spellings: [(String, FilterComparison)] = [
      ("==", .equal), ("!=", .notEqual), ("<>", .notEqual), ("<=", .lessOrEqual),
      (">=", .greaterOrEqual), ("=", .equal), ("<", .less), (">", .greater),
    ]
    for (spelling, comparison) in spellings
    where characters[index...].starts(with: spelling) {
      return take(spelling.count, .comparison(comparison))
    }
    throw fault("\(characters[index]) is not a comparison operator")
  }

  private mutating func number() throws(FilterFaults) -> FilterToken.Kind {
    let rest = characters[index...].prefix(Self.numberCharactersMax).prefix { $0.isASCII }
    let length = FilterNumber.length(of: Array(String(rest).utf8)[...])
    if let duration = duration(afterDigits: length) { return duration }
    guard length > 0, !Self.isWordPart(characters[safe: index + length]) else {
      throw fault("this is not a number")
    }
    let digits = String(characters[index..<(index + length)])
    return take(length, .number(digits))
  }

  /// Reads a whole number and a unit of time, such as `7d`.
  private mutating func duration(afterDigits length: Int) -> FilterToken.Kind? {
    let units: [Character: Int64] = ["d": 86_400, "h": 3_600, "m": 60, "s": 1]
    guard let letter = characters[safe: index + length], let unit = units[letter],
      !Self.isWordPart(characters[safe: index + length + 1]), length <= Self.durationDigitsMax,
      let count = Int64(String(characters[index..<(index + length)]))
    else { return nil }
    return take(length + 1, .duration(seconds: count * unit))
  }

  private mutating func folding() throws(FilterFaults) -> TextFolding {
    for folding in TextFolding.allCases where folding != .none {
      let text = folding.rawValue
      guard characters[index...].prefix(text.count).map({ $0.lowercased() }).joined() == text else {
        continue
      }
      index += text.count
      return folding
    }
    throw fault("expected [c], which ignores case, or [cd], which ignores diacritics too")
  }

  private mutating func word() throws(FilterFaults) -> FilterToken.Kind {
    let name = takeWord()
    guard !name.isEmpty else {
      throw fault("unexpected character \(characters[index])")
    }
    let names = try path(from: name)
    guard names.count == 1 else { return .path(names) }
    if let keyword = FilterToken.Keyword(rawValue: name.lowercased()) { return .keyword(keyword) }
    return .word(name)
  }

  /// Reads the names that follow the first one of a key path, each after a full stop.
  private mutating func path(from first: String) throws(FilterFaults) -> [String] {
    var names = [first]
    while characters[safe: index] == "." {
      let next = characters[safe: index + 1]
      if next == "\"" {
        index += 1
        names.append(try quoted(by: "\""))
      } else if Self.isWordPart(next) {
        index += 1
        names.append(takeWord())
      } else {
        throw fault("a name is missing after the full stop")
      }
    }
    return names
  }

  private mutating func namedParameter() throws(FilterFaults) -> FilterToken.Kind {
    index += 1
    let name = takeWord()
    guard !name.isEmpty else { throw fault("a name is missing after the colon") }
    return .namedParameter(name)
  }

  private mutating func takeWord() -> String {
    let start = index
    while Self.isWordPart(characters[safe: index]) { index += 1 }
    return String(characters[start..<index])
  }

  /// Reads a quoted text, in which a doubled quotation mark stands for one.
  private mutating func quoted(by mark: Character) throws(FilterFaults) -> String {
    let start = index
    index += 1
    var text = ""
    while index < characters.count {
      let character = characters[index]
      index += 1
      guard character == mark else {
        text.append(character)
        continue
      }
      guard characters[safe: index] == mark else { return text }
      text.append(mark)
      index += 1
    }
    index = start
    throw fault("this \(mark) is never closed")
  }

  private static func isWordPart(_ character: Character?) -> Bool {
    guard let character, character.isASCII else { return false }
    return character.isLetter || character.isNumber || character == "_"
  }

  private func fault(_ message: String) -> FilterFaults {
    FilterFaults(all: [FilterFault(place: .position(index + 1), message: message)])
  }
}

extension [Character] {
  fileprivate subscript(safe index: Int) -> Character? {
    indices.contains(index) ? self[index] : nil
  }
}
