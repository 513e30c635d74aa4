/// What a full-text search looks for: every word and phrase must be found.
///
/// `alien ship*` takes words, the second as a beginning; `"dark side"` takes neighbours. Case and
/// diacritics do not count. Nothing else has a meaning, so any text a person types is a search.
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
    var rest = text[...]
    while let first = rest.first(where: { !$0.isWhitespace }) {
      rest = rest.drop { $0.isWhitespace }
      var word: Substring
      if first == "\"" {
        let inner = rest.dropFirst()
        guard let end = inner.firstIndex(of: "\"") else { throw .unclosedPhrase }
        word = inner[..<end]
        rest = inner[inner.index(after: end)...]
      } else {
        word = rest.prefix { !$0.isWhitespace && $0 != "\"" && $0 != "*" }
        rest = rest[word.endIndex...]
      }
      let isPrefix = rest.first == "*"
      if isPrefix { rest = rest.dropFirst() }
      guard word.contains(where: { $0.isLetter || $0.isNumber }) else {
        if isPrefix { throw .barePrefix }
        continue
      }
      terms.append(Term(text: String(word), isPrefix: isPrefix))
    }
    guard !terms.isEmpty else { throw .empty }
    guard terms.count <= Self.termsMax else { throw .tooManyTerms }
    self.terms = terms
  }
}

/// An entity that a search found.
package struct SearchHit: Sendable {
  package let key: EntityKey
  /// Above 0 and below 1: made of this entity's own text alone.
  package let score: Double
  /// A part of the text around what was found.
  package let snippet: String
  package let record: EntityRecord

  package init(key: EntityKey, score: Double, snippet: String, record: EntityRecord) {
    self.key = key
    self.score = score
    self.snippet = snippet
    self.record = record
  }
}
