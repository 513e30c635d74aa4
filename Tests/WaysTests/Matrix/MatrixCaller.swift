/// A caller of the matrix, with a secret word that is part of all of its data.
///
/// To test another kind of caller, add it to ``all``: ``MatrixWorld`` creates its data, and every other
/// caller then tries every route for it.
struct MatrixCaller: Sendable, CustomStringConvertible {
  enum Kind: Sendable {
    case anonymous, admin
    /// A bearer token that upstream verifies.
    case token
    case device
    /// A device token and a bearer token.
    case deviceWithToken
    /// A user whose token Larder verifies.
    case user

    var hasToken: Bool { self == .token || self == .deviceWithToken }
    var hasDevice: Bool { self == .device || self == .deviceWithToken }
    var ownsSomething: Bool { hasToken || hasDevice || self == .user }
  }

  let kind: Kind
  /// A word that occurs nowhere else, in lower case, of which no two begin alike: part of the caller's name,
  /// ids and texts.
  let word: String

  static let all = [
    MatrixCaller(kind: .anonymous, word: "zanobody"),
    MatrixCaller(kind: .admin, word: "zbkeeper"),
    MatrixCaller(kind: .token, word: "zctokena"),
    MatrixCaller(kind: .token, word: "zdtokenb"),
    MatrixCaller(kind: .device, word: "zephonea"),
    MatrixCaller(kind: .device, word: "zfphoneb"),
    MatrixCaller(kind: .deviceWithToken, word: "zgbothab"),
    MatrixCaller(kind: .user, word: "zhuserada"),
    MatrixCaller(kind: .user, word: "zjusereve"),
  ]

  /// The callers that own data.
  static var owners: [MatrixCaller] { all.filter(\.kind.ownsSomething) }

  /// One owner of each kind: responses to another of the same kind do not differ.
  static var kinds: [MatrixCaller] {
    var seen: Set<Kind> = []
    return owners.filter { seen.insert($0.kind).inserted }
  }

  /// One caller of each other kind, and another of this kind.
  var strangers: [MatrixCaller] {
    var seen: Set<Kind> = []
    return Self.all.filter { $0.word != word && seen.insert($0.kind).inserted }
  }

  var description: String { word }

  /// The number of lists and notes that it owns: different for each owner, so that a count, and the tag of a
  /// response that shows only counts, is the owner's own.
  var rank: Int { (Self.all.firstIndex { $0.word == word } ?? 0) + 1 }

  /// The field by which the demo upstream knows the user; a Larder user gets its token from the sign-up.
  var authorization: (String, String)? {
    switch kind {
    case .admin: ("Authorization", "Bearer \(RunningLarder.adminToken)")
    case .token, .deviceWithToken: ("Authorization", "Bearer user-\(word)")
    case .anonymous, .device, .user: nil
    }
  }
}

/// All ids, tags and tokens that an owner got or chose, and that another caller could try.
struct MatrixSecrets: Sendable {
  /// The word that is part of every id and text.
  let word: String
  /// The owner's list upstream.
  var listID: String
  /// The value of `_rev` of the owner's note.
  var revision: String
  /// Entity tags with their quotes.
  var tags: [String]
  /// The list tag of the owner's watchlist, without quotes.
  var listTag: String
  var cursor: String
  /// The page token for the second page of the owner's notes; nil for an owner without notes.
  var pageToken: String?
  /// The id of the account that a user signs in to.
  var accountID = "none"
  /// The id of a mutation that waits in the owner's queue.
  var mutationID = "m_999999"

  var userID: String { "u-\(word)" }
  var noteID: String { "note-\(word)" }
  var bookID: String { "book-\(word)" }
  var wishID: String { "wish-\(word)" }
  var email: String { "\(word)@example.com" }

  /// Invented secrets of the same form.
  ///
  /// - Parameter cursor: the cursor of a caller without data, since an invented one is refused for another
  ///   reason.
  func madeUp(cursor: String) -> MatrixSecrets {
    MatrixSecrets(
      word: Self.shifted(word), listID: Self.shifted(listID), revision: Self.shifted(revision),
      tags: tags.map(Self.shifted), listTag: Self.shifted(listTag), cursor: cursor,
      pageToken: pageToken, accountID: Self.shifted(accountID),
      mutationID: String(mutationID.prefix(2) + mutationID.dropFirst(2).map(Self.shiftedDigit)))
  }

  /// Replaces other secrets in a text with these.
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

  /// Replaces whole words: an id of two letters can occur by chance in a longer word.
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

  /// A different hexadecimal digit.
  private static func shiftedDigit(_ digit: Character) -> Character {
    let digits = Array("0123456789abcdef")
    return digits.firstIndex(of: digit).map { digits[($0 + 1) % digits.count] } ?? digit
  }

  /// A different text of the same length and the same kinds of characters.
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
