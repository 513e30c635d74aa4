import Filtering
import GRDB
import GRDBSQLite

/// The words and phrases of a search, matched with texts that are in no index as FTS5 matches those in one.
struct SearchMatcher {
  struct Match {
    let score: Double
    /// The index of the field with the most hits.
    let field: Int
  }

  private struct Term {
    let words: WordList
    let isPrefix: Bool
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

  /// Returns the match of an entity's texts, by field; nil unless every term occurs in one of them.
  func match(_ texts: [UnsafeBufferPointer<UInt8>?]) throws -> Match? {
    guard !terms.isEmpty else { return nil }
    var score = SearchScore()
    var found = [Bool](repeating: false, count: terms.count)
    var best = (field: 0, hits: 0)
    for (field, text) in texts.enumerated() {
      guard let text else { continue }
      score.addText(text)
      let before = score.hits
      let words = try WordList(text, .document, tokenizer)
      for place in 0..<words.count {
        for (index, term) in terms.enumerated()
        where words.has(term.words, at: place, lastIsPrefix: term.isPrefix) {
          found[index] = true
          score.addPlace(inColumn: field, first: place, count: term.words.count)
        }
      }
      if score.hits - before > best.hits { best = (field, score.hits - before) }
    }
    return found.contains(false) ? nil : Match(score: score.value, field: best.field)
  }
}

/// The words of a text as the index has them.
private final class WordList {
  /// FTS5 cuts longer words (`FTS5_MAX_TOKEN_SIZE`).
  private static let wordBytesMax = 32_768

  /// One word after the other.
  private var bytes: [UInt8] = []
  /// The end of each word in ``bytes``.
  private var ends: [Int] = []

  var count: Int { ends.count }

  init(
    _ text: UnsafeBufferPointer<UInt8>, _ purpose: FTS5Tokenization,
    _ tokenizer: any FTS5Tokenizer
  ) throws {
    guard let base = text.baseAddress else { return }
    let code = base.withMemoryRebound(to: CChar.self, capacity: text.count) { characters in
      tokenizer.tokenize(
        context: Unmanaged.passUnretained(self).toOpaque(), tokenization: purpose,
        pText: characters, nText: CInt(text.count),
        tokenCallback: { context, _, word, count, _, _ in
          guard let context, let word else { return SQLITE_OK }
          Unmanaged<WordList>.fromOpaque(context).takeUnretainedValue().append(
            UnsafeRawBufferPointer(start: word, count: min(Int(count), WordList.wordBytesMax)))
          return SQLITE_OK
        })
    }
    guard code == SQLITE_OK else { throw DatabaseError(resultCode: ResultCode(rawValue: code)) }
  }

  private func append(_ word: UnsafeRawBufferPointer) {
    bytes.append(contentsOf: word)
    ends.append(bytes.count)
  }

  /// Returns whether the words of a term stand at a place.
  func has(_ term: WordList, at place: Int, lastIsPrefix: Bool) -> Bool {
    guard place + term.count <= count else { return false }
    for index in 0..<term.count {
      let word = word(place + index)
      let wanted = term.word(index)
      let matches =
        lastIsPrefix && index == term.count - 1
        ? word.starts(with: wanted) : word.count == wanted.count && word.elementsEqual(wanted)
      guard matches else { return false }
    }
    return true
  }

  private func word(_ index: Int) -> ArraySlice<UInt8> {
    bytes[(index == 0 ? 0 : ends[index - 1])..<ends[index]]
  }
}
