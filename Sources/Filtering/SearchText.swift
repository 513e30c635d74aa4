package import Model

/// The words and phrases of a full-text search, all of which must be found.
///
/// `alien ship*` is two words, the second a prefix; `"dark side"` is a phrase. Case and diacritics
/// are ignored. There is no other syntax, so any text that a person types is a valid search.
package struct SearchText: Hashable, Sendable {
  package struct Term: Hashable, Sendable {
    package let text: String
    package let isPrefix: Bool
  }

  package enum Fault: Error, Hashable, Sendable {
    case empty
    case unclosedPhrase
    case tooManyTerms
    /// A `*` without a letter or digit before it.
    case barePrefix
  }

  package static let termsMax = 32

  package let terms: [Term]

  package init(_ text: String) throws(Fault) {
    var terms: [Term] = []
    // By scalars: a quotation mark followed by a combining accent is another `Character`.
    var rest = text.unicodeScalars[...]
    while let start = rest.firstIndex(where: { !$0.separatesWords }) {
      rest = rest[start...]
      let word: Substring.UnicodeScalarView
      if rest.first == "\"" {
        let inner = rest.dropFirst()
        guard let end = inner.firstIndex(of: "\"") else { throw .unclosedPhrase }
        word = inner[..<end]
        rest = inner[inner.index(after: end)...]
      } else {
        word = rest.prefix { !$0.separatesWords && $0 != "\"" && $0 != "*" }
        rest = rest[word.endIndex...]
      }
      let isPrefix = rest.first == "*"
      if isPrefix { rest = rest.dropFirst() }
      guard word.contains(where: \.isOfWords) else {
        if isPrefix { throw .barePrefix }
        continue
      }
      terms.append(Term(text: Self.text(word), isPrefix: isPrefix))
    }
    guard !terms.isEmpty else { throw .empty }
    guard terms.count <= Self.termsMax else { throw .tooManyTerms }
    self.terms = terms
  }

  /// Replaces U+0000, which would end the text in SQLite.
  private static func text(_ word: Substring.UnicodeScalarView) -> String {
    var text = String.UnicodeScalarView()
    for scalar in word { text.append(scalar.value == 0 ? " " : scalar) }
    return String(text)
  }
}

extension Unicode.Scalar {
  fileprivate var separatesWords: Bool { value == 0 || properties.isWhitespace }

  /// Whether FTS5's `unicode61` tokenizer makes it part of a word.
  fileprivate var isOfWords: Bool {
    switch properties.generalCategory {
    case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter,
      .decimalNumber, .letterNumber, .otherNumber, .privateUse:
      true
    default: false
    }
  }
}

/// An entity that a search found.
package struct SearchHit: Sendable {
  package let key: EntityKey
  /// Above 0 and below 1; computed from this entity's own text alone.
  package let score: Double
  /// An excerpt of the text around the match.
  package let snippet: String
  package let record: EntityRecord

  package init(key: EntityKey, score: Double, snippet: String, record: EntityRecord) {
    self.key = key
    self.score = score
    self.snippet = snippet
    self.record = record
  }
}

/// A page of the entities that a search found.
package struct SearchPage: Sendable {
  /// Best first.
  package let hits: [SearchHit]
  /// Whether more texts match than were ranked, so that hits can be missing.
  package let isApproximate: Bool

  package init(hits: [SearchHit], isApproximate: Bool) {
    self.hits = hits
    self.isApproximate = isApproximate
  }
}
