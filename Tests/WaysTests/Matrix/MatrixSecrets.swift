/// What an owner was given, or chose: everything that somebody else might try.
struct MatrixSecrets: Sendable {
  /// Part of every id and text.
  let word: String
  /// The owner's list upstream.
  var listID: String
  /// The value of `_rev` of the owner's note.
  var revision: String
  /// Entity tags, quotes and all.
  var tags: [String]
  /// Of the list diff of the owner's watchlist, without quotes.
  var listTag: String
  var cursor: String
  /// Of the second page of the owner's notes; nil for an owner without.
  var pageToken: String?
  /// Of the account that a user signs in to.
  var accountID = "none"
  /// Of a mutation that waits in the owner's queue.
  var mutationID = "m_999999"

  var userID: String { "u-\(word)" }
  var noteID: String { "note-\(word)" }
  var bookID: String { "book-\(word)" }
  var wishID: String { "wish-\(word)" }
  var email: String { "\(word)@example.com" }

  /// Secrets of the same form that nobody was ever given.
  ///
  /// - Parameter cursor: of somebody who owns nothing, since one made up is refused otherwise.
  func madeUp(cursor: String) -> MatrixSecrets {
    MatrixSecrets(
      word: Self.shifted(word), listID: Self.shifted(listID), revision: Self.shifted(revision),
      tags: tags.map(Self.shifted), listTag: Self.shifted(listTag), cursor: cursor,
      pageToken: pageToken, accountID: Self.shifted(accountID),
      mutationID: String(mutationID.prefix(2) + mutationID.dropFirst(2).map(Self.shiftedDigit)))
  }

  /// Text with these secrets in place of others.
  func replacing(_ others: MatrixSecrets, in text: String) -> String {
    var text = text
    var pairs = [
      (others.word, word), (others.listID, listID), (others.revision, revision),
      (others.listTag, listTag), (others.accountID, accountID), (others.mutationID, mutationID),
    ]
    pairs += zip(others.tags, tags).map { ($0, $1) }
    for (from, to) in pairs where from != to { text = Self.replacing(from, with: to, in: text) }
    return text
  }

  /// Replaces whole words: an id of two letters stands by chance in a longer one.
  private static func replacing(_ from: String, with to: String, in text: String) -> String {
    var result = text
    for range in text.ranges(of: from).reversed() {
      let before = text[..<range.lowerBound].last
      let after = text[range.upperBound...].first
      let isWord = ![before, after].contains { $0?.isLetter == true || $0?.isNumber == true }
      if isWord { result.replaceSubrange(range, with: to) }
    }
    return result
  }

  /// Another digit of a hexadecimal number.
  private static func shiftedDigit(_ digit: Character) -> Character {
    let digits = Array("0123456789abcdef")
    return digits.firstIndex(of: digit).map { digits[($0 + 1) % digits.count] } ?? digit
  }

  /// Another text of the same length and the same kinds of characters.
  private static func shifted(_ text: String) -> String {
    String(
      text.map { character in
        switch character {
        case "a"..."y", "A"..."Y", "0"..."8":
          Character(Unicode.Scalar(character.asciiValue! + 1))
        case "z": "a"
        case "Z": "A"
        case "9": "0"
        default: character
        }
      })
  }
}
