/// One of those who ask, with the secret word that stands in everything of theirs.
///
/// To try another kind of caller, add it to ``all``: what it owns is planted by ``MatrixWorld``, and
/// everybody else is driven through every route for it.
struct MatrixCaller: Sendable, CustomStringConvertible {
  enum Kind: Sendable {
    case anonymous, admin
    /// A bearer token that upstream judges.
    case token
    case device
    /// A device's token beside a bearer token.
    case deviceWithToken
    /// A user whose token is verified here.
    case user

    var hasToken: Bool { self == .token || self == .deviceWithToken }
    var hasDevice: Bool { self == .device || self == .deviceWithToken }
    var ownsSomething: Bool { hasToken || hasDevice || self == .user }
  }

  let kind: Kind
  /// A word that stands nowhere else, in lower case, and begins as no other: part of the caller's
  /// name, ids and texts.
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

  /// Those who have something of their own.
  static var owners: [MatrixCaller] { all.filter(\.kind.ownsSomething) }

  /// One of each kind of owner: what another of the same kind is told differs in nothing.
  static var kinds: [MatrixCaller] {
    var seen: Set<Kind> = []
    return owners.filter { seen.insert($0.kind).inserted }
  }

  /// One of each other kind, and another of this one's.
  var strangers: [MatrixCaller] {
    var seen: Set<Kind> = []
    return Self.all.filter { $0.word != word && seen.insert($0.kind).inserted }
  }

  var description: String { word }

  /// How many lists and notes it owns: no two owners have as many, so that a count, and the tag of
  /// an answer that shows counts alone, is the owner's own.
  var rank: Int { (Self.all.firstIndex { $0.word == word } ?? 0) + 1 }

  /// As upstream's demonstration knows users; that of a user comes from signing up.
  var authorization: (String, String)? {
    switch kind {
    case .admin: ("Authorization", "Bearer \(RunningLarder.adminToken)")
    case .token, .deviceWithToken: ("Authorization", "Bearer user-\(word)")
    case .anonymous, .device, .user: nil
    }
  }
}
