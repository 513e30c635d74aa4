import GRDB
import GRDBSQLite

/// The words of a text as an index of FTS5 has them.
///
/// Synchronisation: none; used within one query.
final class WordList {
  /// FTS5 cuts longer words (`FTS5_MAX_TOKEN_SIZE`).
  private static let wordBytesMax = 32_768

  /// The folded words, one after the other.
  private var bytes: [UInt8] = []
  /// The end of each word in ``bytes``.
  private var ends: [Int] = []
  /// The place of each word in the text, in bytes.
  private var places: [Range<Int>] = []

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
        tokenCallback: { context, _, word, count, start, end in
          guard let context, let word else { return SQLITE_OK }
          Unmanaged<WordList>.fromOpaque(context).takeUnretainedValue().append(
            UnsafeRawBufferPointer(start: word, count: min(Int(count), WordList.wordBytesMax)),
            at: Int(start)..<Int(max(start, end)))
          return SQLITE_OK
        })
    }
    guard code == SQLITE_OK else { throw DatabaseError(resultCode: ResultCode(rawValue: code)) }
  }

  private func append(_ word: UnsafeRawBufferPointer, at place: Range<Int>) {
    bytes.append(contentsOf: word)
    ends.append(bytes.count)
    places.append(place)
  }

  /// Returns whether the words of a term stand at a place.
  ///
  /// - Parameter lastIsPrefix: whether a word that begins with the term's last one is enough.
  func has(_ term: WordList, at place: Int, lastIsPrefix: Bool) -> Bool {
    guard place + term.count <= count else { return false }
    for index in 0..<term.count {
      let word = word(place + index)
      let wanted = term.word(index)
      let isWanted =
        lastIsPrefix && index == term.count - 1
        ? word.starts(with: wanted) : word.count == wanted.count && word.elementsEqual(wanted)
      guard isWanted else { return false }
    }
    return true
  }

  private func word(_ index: Int) -> ArraySlice<UInt8> {
    bytes[(index == 0 ? 0 : ends[index - 1])..<ends[index]]
  }

  /// Returns the part of the text with some of its words, with `…` where something was left out.
  func excerpt(_ words: Range<Int>, of text: UnsafeBufferPointer<UInt8>) -> String {
    guard !words.isEmpty else { return "" }
    let isFromStart = words.lowerBound == 0
    let isToEnd = words.upperBound == count
    let start = isFromStart ? 0 : places[words.lowerBound].lowerBound
    let end = isToEnd ? text.count : places[words.upperBound - 1].upperBound
    let part = String(decoding: text[start..<end], as: UTF8.self)
    return "\(isFromStart ? "" : "…")\(part)\(isToEnd ? "" : "…")"
  }
}
