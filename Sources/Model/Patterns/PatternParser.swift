/// Parses the regular expressions that ``TextPattern`` supports:
///
/// ```
/// choice     := sequence ("|" sequence)*
/// sequence   := (atom quantifier?)*
/// quantifier := ("*" | "+" | "?" | "{" n ("," n?)? "}") "?"?
/// atom       := character | "." | escape | class | "^" | "$"
///             | "(" ("?:" | "?<" name ">" | "?i:")? choice ")" | "(?i)"
/// class      := "[" "^"? (character ("-" character)? | escape)+ "]"
/// escape     := "\" (d D w W s S n r t f A z Z p{…} P{…} x u or a punctuation mark)
/// ```
///
/// Lazy quantifiers are treated as eager ones: for a match of the whole text they are equivalent.
struct PatternParser {
  /// Limit of nested groups, which bounds the parser's recursion.
  static let depthMax = 100
  /// The largest number in a quantifier.
  static let countMax = 1_000

  private let characters: [Character]
  private var index = 0
  private var depth = 0
  private var ignoresCase = false

  init(_ source: String) {
    characters = Array(source)
  }

  mutating func parse() throws(PatternFault) -> PatternNode {
    let node = try choice()
    guard index == characters.count else {
      throw fault("there is no group to close: write \\) for a parenthesis")
    }
    return node
  }

  // MARK: Groups

  private mutating func choice() throws(PatternFault) -> PatternNode {
    // A flag inside a group ends with it.
    let outerCase = ignoresCase
    defer { ignoresCase = outerCase }
    var alternatives = [try sequence()]
    while skip("|") { alternatives.append(try sequence()) }
    return alternatives.count == 1 ? alternatives[0] : .choice(alternatives)
  }

  private mutating func sequence() throws(PatternFault) -> PatternNode {
    var nodes: [PatternNode] = []
    while let next = peek, next != "|", next != ")" {
      let start = index
      let node = try atom()
      nodes.append(try quantified(node, from: start))
    }
    return nodes.count == 1 ? nodes[0] : .sequence(nodes)
  }

  private mutating func group() throws(PatternFault) -> PatternNode {
    let start = index - 1
    depth += 1
    defer { depth -= 1 }
    guard depth <= Self.depthMax else {
      throw fault("groups are nested more than \(Self.depthMax) deep")
    }
    let outerCase = ignoresCase
    defer { ignoresCase = outerCase }
    if skip("?") {
      if skip("i") {
        guard !skip(")") else {
          throw PatternFault(
            position: start + 1, "(?i) is allowed only at the start of the pattern")
        }
        guard skip(":") else { throw unsupportedGroup(start) }
        ignoresCase = true
      } else if skip("<") {
        try skipName(start)
      } else if !skip(":") {
        throw unsupportedGroup(start)
      }
    } else if peek == "*" {
      throw unsupportedGroup(start)
    }
    let node = try choice()
    guard skip(")") else {
      throw PatternFault(position: start + 1, "this group is never closed")
    }
    return node
  }

  private mutating func skipName(_ start: Int) throws(PatternFault) {
    guard let first = peek, first.isLetter || first == "_" else { throw unsupportedGroup(start) }
    while let next = peek, next != ">" {
      guard next.isLetter || next.isNumber || next == "_" else { throw unsupportedGroup(start) }
      index += 1
    }
    guard skip(">") else { throw unsupportedGroup(start) }
  }

  private func unsupportedGroup(_ start: Int) -> PatternFault {
    PatternFault(
      position: start + 1,
      "this kind of group is not supported (lookaround, atomic groups, conditions and flags but i "
        + "are not): write (…), (?:…) or (?i:…)")
  }

  // MARK: Quantifiers

  private mutating func quantified(
    _ node: PatternNode, from start: Int
  ) throws(PatternFault) -> PatternNode {
    guard let (min, max) = try quantifier() else { return node }
    if case .assertion = node { throw fault("an anchor cannot be repeated") }
    if peek == "+" {
      throw fault("possessive quantifiers are not supported: leave out the last +")
    }
    _ = skip("?")
    switch peek {
    case "*", "+", "?", "{": throw fault("a quantifier follows another: put the first in a group")
    default: return .repetition(node, min: min, max: max)
    }
  }

  private mutating func quantifier() throws(PatternFault) -> (min: Int, max: Int?)? {
    if skip("*") { return (0, nil) }
    if skip("+") { return (1, nil) }
    if skip("?") { return (0, 1) }
    guard skip("{") else { return nil }
    let hasMin = peek != ","
    let min = hasMin ? try count() : 0
    guard skip(",") else {
      guard skip("}") else { throw braceFault }
      return (min, min)
    }
    if skip("}") {
      guard hasMin else { throw braceFault }
      return (min, nil)
    }
    let max = try count()
    guard skip("}") else { throw braceFault }
    guard min <= max else { throw fault("the range \(min) to \(max) is empty") }
    return (min, max)
  }

  private mutating func count() throws(PatternFault) -> Int {
    var digits = ""
    while let next = peek, next.isASCII, next.isNumber {
      digits.append(next)
      index += 1
    }
    guard !digits.isEmpty else { throw braceFault }
    guard let count = Int(digits), count <= Self.countMax else {
      throw fault("the maximum number in a quantifier is \(Self.countMax)")
    }
    return count
  }

  private var braceFault: PatternFault {
    fault("a { begins a quantifier, {2}, {2,} or {2,5}: write \\{ for the character")
  }

  // MARK: Atoms

  private mutating func atom() throws(PatternFault) -> PatternNode {
    if index == 0, skipLeadingFlag() { return .empty }
    guard let next = take() else { return .empty }
    switch next {
    case "(": return try group()
    case "[": return .test(try characterClass())
    case ".": return .test(PatternTest(elements: [.lineBreak], isNegated: true))
    case "^": return .assertion(.start)
    case "$": return .assertion(.endOrLastLineBreak)
    case "\\": return try escape()
    case "*", "+", "?":
      index -= 1
      throw fault("there is nothing to repeat: write \\\(next) for the character")
    case "{":
      index -= 1
      throw braceFault
    default: return literal(next)
    }
  }

  private mutating func skipLeadingFlag() -> Bool {
    guard characters.starts(with: "(?i)") else { return false }
    index = 4
    ignoresCase = true
    return true
  }

  private func literal(_ character: Character) -> PatternNode {
    .test(PatternTest(elements: [.character(character)], ignoresCase: ignoresCase))
  }

  private mutating func escape() throws(PatternFault) -> PatternNode {
    switch peek {
    case "A": return anchor(.start)
    case "z": return anchor(.end)
    case "Z": return anchor(.endOrLastLineBreak)
    case "b", "B":
      throw fault("word boundaries are not supported: the pattern is matched with the whole text")
    case let next? where next.isASCII && next.isNumber || next == "k" || next == "g":
      throw fault("backreferences and octal escapes are not supported")
    default:
      let element = try classEscape()
      return .test(PatternTest(elements: [element], ignoresCase: ignoresCase))
    }
  }

  private mutating func anchor(_ assertion: PatternAssertion) -> PatternNode {
    index += 1
    return .assertion(assertion)
  }

  /// Reads an escape that stands for characters, after its backslash.
  private mutating func classEscape() throws(PatternFault) -> PatternTest.Element {
    guard let next = take() else { throw fault("a backslash ends the pattern") }
    switch next {
    case "d": return .digit
    case "D": return .not(.digit)
    case "w": return .word
    case "W": return .not(.word)
    case "s": return .space
    case "S": return .not(.space)
    case "n": return .character("\n")
    case "r": return .character("\r")
    case "t": return .character("\t")
    case "f": return .character("\u{C}")
    case "p": return try category()
    case "P": return .not(try category())
    case "x": return .character(try scalar(digits: 2))
    case "u": return .character(try scalar(digits: 4))
    case _ where next.isLetter || next.isNumber || next.unicodeScalars.count > 1:
      index -= 1
      throw fault("\\\(next) is not supported")
    default: return .character(next)
    }
  }

  private mutating func category() throws(PatternFault) -> PatternTest.Element {
    var name = ""
    if skip("{") {
      while let next = peek, next != "}" {
        name.append(next)
        index += 1
      }
      guard skip("}") else { throw fault("this { is never closed") }
    }
    guard Unicode.GeneralCategory.abbreviations.contains(name) else {
      throw fault("\\p needs a Unicode general category, such as \\p{L} or \\p{Nd}")
    }
    return .category(name)
  }

  private mutating func scalar(digits count: Int) throws(PatternFault) -> Character {
    var digits = ""
    if skip("{") {
      while let next = peek, next != "}", digits.count <= 8 {
        digits.append(next)
        index += 1
      }
      guard skip("}") else { throw fault("this { is never closed") }
    } else {
      while digits.count < count, let next = take() { digits.append(next) }
    }
    let isHexadecimal = digits.allSatisfy { $0.isASCII && $0.isHexDigit }
    guard !digits.isEmpty, isHexadecimal, let value = UInt32(digits, radix: 16),
      let scalar = Unicode.Scalar(value)
    else { throw fault("this is not a code point: write \\x41, \\u0041 or \\u{1F600}") }
    return Character(scalar)
  }

  // MARK: Classes

  private mutating func characterClass() throws(PatternFault) -> PatternTest {
    let start = index - 1
    var test = PatternTest(elements: [], ignoresCase: ignoresCase)
    test.isNegated = skip("^")
    while !skip("]") {
      guard index < characters.count else {
        throw PatternFault(position: start + 1, "this [ is never closed")
      }
      let low = try classElement()
      guard peek == "-", characters[safe: index + 1] != "]" else {
        test.elements.append(low)
        continue
      }
      index += 1
      guard characters[safe: index] != "-" else {
        throw fault("operators on classes are not supported: write \\- for the character")
      }
      test.elements.append(try range(low, try classElement()))
    }
    guard !test.elements.isEmpty else {
      throw PatternFault(
        position: start + 1, "a class needs at least one character: write \\] for the bracket")
    }
    return test
  }

  private mutating func classElement() throws(PatternFault) -> PatternTest.Element {
    guard let next = take() else { throw fault("a class is never closed") }
    switch next {
    case "\\": return try classEscape()
    case "[":
      index -= 1
      throw fault("a class in a class is not supported: write \\[ for the bracket")
    case "&" where peek == "&", "~" where peek == "~":
      throw fault("operators on classes are not supported: write \\\(next) for the character")
    default: return .character(next)
    }
  }

  private func range(
    _ low: PatternTest.Element, _ high: PatternTest.Element
  ) throws(PatternFault) -> PatternTest.Element {
    guard case .character(let low) = low, case .character(let high) = high,
      let first = PatternUnit(low).scalar, let last = PatternUnit(high).scalar
    else { throw fault("a range needs single characters at both ends") }
    guard first <= last else {
      throw fault("the range \(low)-\(high) is empty: its end comes first")
    }
    return .range(first...last)
  }

  // MARK: Characters

  private var peek: Character? { characters[safe: index] }

  private mutating func take() -> Character? {
    guard let next = peek else { return nil }
    index += 1
    return next
  }

  private mutating func skip(_ character: Character) -> Bool {
    guard peek == character else { return false }
    index += 1
    return true
  }

  private func fault(_ message: String) -> PatternFault {
    PatternFault(position: index + 1, message)
  }
}

extension [Character] {
  fileprivate subscript(safe index: Int) -> Character? {
    indices.contains(index) ? self[index] : nil
  }
}
