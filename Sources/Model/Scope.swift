/// Who may see a stored row, a result, a rendered answer or a shared upstream call.
///
/// A scope is a value of its own and is never parsed out of a string: storage keeps one row for
/// each scope and refers to it by number. Reads by a caller see the layers of a ``Viewer``.
package struct Scope: Hashable, Sendable {
  package enum Kind: Int, Hashable, Sendable, CaseIterable {
    /// Obtained without any caller's credential: everybody may see it.
    case `public` = 0
    /// Obtained with one user's credential, or written by a signed-in user.
    case user = 1
    /// Written by or for one device.
    case device = 2
    /// Fetched by an operation that only callers with a role can call.
    case role = 3
    /// Fetched with one verified caller's credential, for all whose token has the same value of a
    /// claim.
    case claim = 4

    /// From the widest to the narrowest: public, role, claim, user, device. The raw values are those
    /// of stored rows, in the order in which the kinds were added.
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

    /// The kinds whose rows can show under a row of this one.
    package var wider: [Kind] { Kind.allCases.filter { isNarrower(than: $0) } }

    /// Several callers see the same rows.
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

  /// What a device wrote of its own accord: the same whatever headers come along, since they part
  /// what upstream says and this is nothing of upstream's.
  package static func ownData(ofDevice id: String) -> Scope { .device(id) }

  /// What a verified user wrote of its own accord. Apart from what upstream told that user, which
  /// another set of forwarded headers must not see.
  package static func ownData(ofUser subject: String) -> Scope {
    .user(subject, partition: ownPartition)
  }

  /// Other bytes are another caller or another partition: upstream takes them for that.
  package static func == (left: Scope, right: Scope) -> Bool {
    left.kind == right.kind && left.subject.equalsExactly(right.subject)
      && left.partition.equalsExactly(right.partition)
  }

  package func hash(into hasher: inout Hasher) {
    hasher.combine(kind)
    subject.hashExactly(into: &hasher)
    partition.hashExactly(into: &hasher)
  }

  /// No headers' text: each line of one holds a colon.
  private static let ownPartition = "own"
}
