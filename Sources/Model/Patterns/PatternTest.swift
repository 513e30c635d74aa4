/// A test of one character of a text.
struct PatternTest: Hashable, Sendable {
  enum Element: Hashable, Sendable {
    case character(Character)
    case range(ClosedRange<UInt32>)
    case digit, word, space, lineBreak
    /// A Unicode general category, such as `Lu`, or `L` for all that begin with it.
    case category(String)
    indirect case not(Element)
  }

  var elements: [Element]
  var isNegated = false
  var ignoresCase = false

  /// The steps that testing one character counts for.
  var cost: Int { max(elements.count, 1) }

  func holds(of unit: PatternUnit) -> Bool {
    let isAny = elements.contains { holds($0, of: unit) }
    return isAny != isNegated
  }

  private func holds(_ element: Element, of unit: PatternUnit) -> Bool {
    switch element {
    case .character(let character):
      if unit.character == character { return true }
      return ignoresCase && unit.character.lowercased() == character.lowercased()
    case .range(let range):
      guard let scalar = unit.scalar else { return false }
      if range.contains(scalar) { return true }
      guard ignoresCase else { return false }
      return unit.caseVariants.contains { range.contains($0) }
    case .digit: return unit.character.isNumber
    case .word:
      return unit.character.isLetter || unit.character.isNumber || unit.character == "_"
    case .space: return unit.character.isWhitespace
    case .lineBreak: return unit.character.isNewline
    case .category(let name):
      return unit.character.unicodeScalars.first.map {
        $0.properties.generalCategory.abbreviation.hasPrefix(name)
      } ?? false
    case .not(let inner): return !holds(inner, of: unit)
    }
  }
}

/// One character of the text that is matched.
struct PatternUnit {
  let character: Character
  /// Nil for a character of several scalars.
  let scalar: UInt32?

  init(_ character: Character) {
    self.character = character
    let scalars = character.unicodeScalars
    scalar = scalars.count == 1 ? scalars.first?.value : nil
  }

  fileprivate var caseVariants: [UInt32] {
    [character.lowercased(), character.uppercased()].compactMap {
      $0.unicodeScalars.count == 1 ? $0.unicodeScalars.first?.value : nil
    }
  }
}

extension Unicode.GeneralCategory {
  /// Every abbreviation of Unicode's table 4-4, and their first letters.
  static let abbreviations: Set<String> = [
    "L", "Lu", "Ll", "Lt", "Lm", "Lo", "M", "Mn", "Mc", "Me", "N", "Nd", "Nl", "No",
    "P", "Pc", "Pd", "Ps", "Pe", "Pi", "Pf", "Po", "S", "Sm", "Sc", "Sk", "So",
    "Z", "Zs", "Zl", "Zp", "C", "Cc", "Cf", "Cs", "Co", "Cn",
  ]

  fileprivate var abbreviation: String {
    switch self {
    case .uppercaseLetter: "Lu"
    case .lowercaseLetter: "Ll"
    case .titlecaseLetter: "Lt"
    case .modifierLetter: "Lm"
    case .otherLetter: "Lo"
    case .nonspacingMark: "Mn"
    case .spacingMark: "Mc"
    case .enclosingMark: "Me"
    case .decimalNumber: "Nd"
    case .letterNumber: "Nl"
    case .otherNumber: "No"
    case .connectorPunctuation: "Pc"
    case .dashPunctuation: "Pd"
    case .openPunctuation: "Ps"
    case .closePunctuation: "Pe"
    case .initialPunctuation: "Pi"
    case .finalPunctuation: "Pf"
    case .otherPunctuation: "Po"
    case .mathSymbol: "Sm"
    case .currencySymbol: "Sc"
    case .modifierSymbol: "Sk"
    case .otherSymbol: "So"
    case .spaceSeparator: "Zs"
    case .lineSeparator: "Zl"
    case .paragraphSeparator: "Zp"
    case .control: "Cc"
    case .format: "Cf"
    case .surrogate: "Cs"
    case .privateUse: "Co"
    case .unassigned: "Cn"
    @unknown default: "Cn"
    }
  }
}
