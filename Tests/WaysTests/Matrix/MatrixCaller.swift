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
