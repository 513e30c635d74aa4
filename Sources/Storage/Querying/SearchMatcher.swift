import Filtering
import GRDB

/// The words and phrases of a search, matched with texts outside the index as FTS5 matches those in it.
struct SearchMatcher {
  private static let snippetWords = 16

  private struct Term {
    let words: WordList
    let isPrefix: Bool
  }

  /// Where a term stands in a text.
  private struct Place {
    let term: Int
    /// The index of its first word.
    let first: Int
    /// The index after its last word.
    let end: Int
  }

  private let tokenizer: any FTS5Tokenizer
  /// The terms that have words; FTS5 ignores the others.
  private let terms: [Term]

  init(_ text: SearchText, _ database: Database) throws {
    let tokenizer = try database.makeTokenizer(SearchIndex.tokenizer)
    self.tokenizer = tokenizer
    terms = try text.terms.map { term in
      var text = term.text
      return Term(
        words: try text.withUTF8 { try WordList($0, .query, tokenizer) }, isPrefix: term.isPrefix)
    }.filter { $0.words.count > 0 }
  }

  /// Returns the score of an entity's texts, by field; nil unless every term occurs in one of them.
  func score(of texts: [UnsafeBufferPointer<UInt8>?]) throws -> Double? {
    guard !terms.isEmpty else { return nil }
    var score = SearchScore()
    var isFound = [Bool](repeating: false, count: terms.count)
    for (field, text) in texts.enumerated() {
      guard let text else { continue }
      score.addText(text)
      for place in places(in: try WordList(text, .document, tokenizer)) {
        isFound[place.term] = true
        score.addPlace(inColumn: field, first: place.first, count: place.end - place.first)
      }
    }
    return isFound.contains(false) ? nil : score.value
  }

  /// Returns some words around the place with the most of the terms; empty if there is none.
  func snippet(of texts: [UnsafeBufferPointer<UInt8>?]) throws -> String {
    var best = (worth: 0, snippet: "")
    for text in texts {
      guard let text else { continue }
      let words = try WordList(text, .document, tokenizer)
      guard let (worth, shown) = bestWords(places(in: words), of: words.count), worth > best.worth
      else { continue }
      best = (worth, words.excerpt(shown, of: text))
    }
    return best.snippet
  }

  private func places(in words: WordList) -> [Place] {
    var places: [Place] = []
    for first in 0..<words.count {
      for (index, term) in terms.enumerated()
      where words.has(term.words, at: first, lastIsPrefix: term.isPrefix) {
        places.append(Place(term: index, first: first, end: first + term.words.count))
      }
    }
    return places
  }

  /// Returns the words to show of a text, with the places in their middle, and their worth: different terms count
  /// most, then the number of places.
  private func bestWords(_ places: [Place], of count: Int) -> (worth: Int, words: Range<Int>)? {
    var best: (worth: Int, words: Range<Int>)?
    for (index, place) in places.enumerated() {
      let last = place.first + Self.snippetWords
      var terms: Set = [place.term]
      var hits = 1
      var end = place.end
      for other in places[(index + 1)...].prefix(while: { $0.first < last })
      where other.end <= last {
        terms.insert(other.term)
        hits += 1
        end = max(end, other.end)
      }
      let worth = terms.count * 1_000 + hits
      guard worth > best?.worth ?? 0 else { continue }
      let before = max(Self.snippetWords - (end - place.first), 0) / 2
      let start = max(min(place.first - before, count - Self.snippetWords), 0)
      best = (worth, start..<min(start + Self.snippetWords, count))
    }
    return best
  }
}
