/// The callers that can see a stored row, a result, a rendered response or a shared upstream call.
///
/// A scope is a value of its own and is never parsed out of a string: storage keeps one row for
/// each scope and refers to it by number. Reads by a caller see the layers of a ``Viewer``.
package struct Scope: Hashable, Sendable {
  package enum Kind: Int, Hashable, Sendable, CaseIterable {
    /// Obtained without any caller's credential: visible to all callers.
    case `public` = 0
    /// Obtained with one user's credential, or written by a signed-in user.
    case user = 1
    /// Written by or for one device.
    case device = 2
    /// Fetched by an operation that only callers with a role can call.
    case role = 3
    /// Fetched with one verified caller's credential, for all callers whose token has the same value
    /// of a claim.
    case claim = 4

    /// The rank from the widest to the narrowest: public, role, claim, user, device. Raw values are
    /// stored in rows and follow the order in which the kinds were added.
    private var narrowness: Int {
      switch self {
      case .public: 0
      case .role: 1
      case .claim: 2
      case .user: 3
      case .device: 4
      }
    }

    package func isNarrower(than other: Kind) -> Bool { narrowness > other.narrowness }

    /// The wider kinds, whose rows a row of this kind can hide.
    package var wider: [Kind] { Kind.allCases.filter { isNarrower(than: $0) } }

    /// Whether several callers see the same rows.
    package var isShared: Bool {
      switch self {
      case .public, .role, .claim: true
      case .user, .device: false
      }
    }
  }

  package let kind: Kind
  /// The user's subject, the device's id, the role's name, or issuer, name and value of the claim;
  /// empty for ``Kind/public``.
  package let subject: String
  /// The forwarded headers that split the cache without being credentials, as canonical text
  /// (`name:value` lines, names in lower case and sorted); empty when there are none.
  package let partition: String

  package init(kind: Kind, subject: String, partition: String = "") {
    self.kind = kind
    self.subject = subject
    self.partition = partition
  }

  package static let `public` = Scope(kind: .public, subject: "")

  package static func user(_ subject: String, partition: String = "") -> Scope {
    Scope(kind: .user, subject: subject, partition: partition)
  }

  package static func device(_ id: String, partition: String = "") -> Scope {
    Scope(kind: .device, subject: id, partition: partition)
  }

  package static func role(_ role: Role, partition: String = "") -> Scope {
    Scope(kind: .role, subject: role.rawValue, partition: partition)
  }

  package static func claim(_ claim: Claim, partition: String = "") -> Scope {
    Scope(kind: .claim, subject: claim.subject, partition: partition)
  }

  /// The scope of a device's own data. It has no partition: forwarded headers divide upstream's data,
  /// and this is none of it.
  package static func ownData(ofDevice id: String) -> Scope { .device(id) }

  /// The scope of a verified user's own data, separate from upstream's data for that user, which
  /// requests with other forwarded headers must not see.
  package static func ownData(ofUser subject: String) -> Scope {
    .user(subject, partition: ownPartition)
  }

  /// The scope of a device's local fields of upstream's entities, apart from the device's optimistic
  /// updates of the same entities. No viewer lists it: those who see the device's own data see it too.
  package static func localFields(ofDevice id: String) -> Scope {
    .device(id, partition: ownPartition)
  }

  /// Whether it holds what its owner wrote, and no copy of upstream's data.
  package var isOwnData: Bool { partition == Self.ownPartition && !kind.isShared }

  /// The scope of viewers by which its changes are reported.
  package var observed: Scope {
    isOwnData && kind == .device ? .ownData(ofDevice: subject) : self
  }

  /// Compares bytes: upstream treats other bytes as another caller or partition.
  package static func == (left: Scope, right: Scope) -> Bool {
    left.kind == right.kind && left.subject.equalsExactly(right.subject)
      && left.partition.equalsExactly(right.partition)
  }

  package func hash(into hasher: inout Hasher) {
    hasher.combine(kind)
    subject.hashExactly(into: &hasher)
    partition.hashExactly(into: &hasher)
  }

  /// Cannot be the text of headers: each of their lines holds a colon.
  package static let ownPartition = "own"
}

/// The scopes that a caller sees, narrowest first: the device, its user, its claims, its roles, and
/// the public scope.
///
/// For each field the first scope that holds a value wins, and a tombstone in a narrower scope hides
/// the wider ones.
package struct Viewer: Hashable, Sendable {
  package let layers: [Scope]

  /// - Parameter layers: narrowest first, without repetition, ending with the public one; empty for a
  ///   caller who reads nothing.
  package init(layers: [Scope]) {
    self.layers = layers
  }

  /// A caller without credentials: the plain, indexed path of every read.
  package static let anonymous = Viewer(layers: [.public])

  package var isAnonymous: Bool { layers.count == 1 && layers[0] == .public }
}

/// One claim of a verified token that operations share responses by (`@cache(scope: CLAIM)`).
package struct Claim: Hashable, Sendable {
  package let name: String
  /// The issuer of the token: the same value from another issuer is another group of callers.
  package let issuer: String
  /// Canonical JSON, so that the text `"5"` and the number `5` are different values.
  package let value: String

  package init(name: String, issuer: String, value: String) {
    self.name = name
    self.issuer = issuer
    self.value = value
  }

  /// An unambiguous text of all three parts.
  var subject: String {
    [issuer, name, value].map { "\($0.utf8.count):\($0)" }.joined()
  }
}

/// The role that an operation with `@access(role:)` requires of its caller.
package enum Role: String, Hashable, Sendable, CaseIterable {
  /// Presented the token of a registered device.
  case device = "DEVICE"
  /// Presented a token that Larder verified.
  case user = "USER"
  /// Presented the admin token.
  case admin = "ADMIN"
}
