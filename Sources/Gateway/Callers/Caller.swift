import Accounts
package import Model

/// Who asks, as far as reads and upstream calls need to know.
package struct Caller: Sendable {
  package struct Header: Hashable, Sendable {
    /// In lower case.
    package let name: String
    package let value: String

    package init(name: String, value: String) {
      self.name = name
      self.value = value
    }
  }

  /// The device whose token was presented.
  package struct Device: Hashable, Sendable {
    package let id: String
    /// Of the token: what the store knows the device by until the token is replaced.
    package let tokenDigest: String

    package init(id: String, tokenDigest: String) {
      self.id = id
      self.tokenDigest = tokenDigest
    }
  }

  /// A token that was verified, and whom it stands for.
  struct Verified: Sendable {
    let user: VerifiedUser
    let token: String
  }

  /// The headers that speak for a user upstream (`authorization`, `cookie`), as far as settings
  /// forward them.
  package let credentials: [Header]
  /// The other forwarded headers: they split the cache without being secrets.
  package let partitions: [Header]
  /// The subject that upstream's answers are kept under: ``user`` where upstream is asked with the
  /// verified token alone, else a digest of ``credentials``; nil without any.
  package let subject: String?
  /// The subject again where its token was verified here. An opaque token is forwarded and judged
  /// by upstream: it signs nobody in, and the next one may be the same user's.
  package let user: String?
  /// What ``user`` was read from; nil in tests that make a user up.
  let verified: Verified?
  /// Presented the admin token.
  package let isAdmin: Bool
  /// Presented some bearer token, forwarded or not.
  package let hasToken: Bool
  package internal(set) var device: Device?

  package init(
    credentials: [Header] = [],
    partitions: [Header] = [],
    subject: String? = nil,
    user: String? = nil,
    isAdmin: Bool = false,
    hasToken: Bool = false,
    device: Device? = nil
  ) {
    self.init(
      credentials: credentials, partitions: partitions, subject: subject, user: user,
      verified: nil, isAdmin: isAdmin, hasToken: hasToken, device: device)
  }

  init(
    credentials: [Header], partitions: [Header], subject: String?, user: String?,
    verified: Verified?, isAdmin: Bool, hasToken: Bool, device: Device? = nil
  ) {
    self.credentials = credentials
    self.partitions = partitions
    self.subject = subject
    self.user = user
    self.verified = verified
    self.isAdmin = isAdmin
    self.hasToken = hasToken
    self.device = device
  }

  package static let anonymous = Caller()

  /// When the token that ``user`` was read from is refused; nil without a user.
  package var userExpires: Timestamp? { verified?.user.expires }

  /// The canonical text of ``partitions``, as ``Model/Scope/partition`` wants it.
  package var partition: String {
    partitions.map { "\($0.name):\($0.value)" }.sorted().joined(separator: "\n")
  }

  /// The scope of what upstream answers this caller: private whenever a credential goes along.
  package func scope(sharing: CachePolicy.Sharing) -> Scope {
    if sharing == .user, let subject { return .user(subject, partition: partition) }
    return Scope(kind: .public, subject: "", partition: partition)
  }

  /// Everything the caller sees: the device over its user over what is public. A user's own data
  /// is of other types than what upstream told the user, so neither ever lies over the other.
  package var viewer: Viewer {
    let own = [
      device.map { Scope.ownData(ofDevice: $0.id) },
      user.map { Scope.ownData(ofUser: $0) },
      subject.map { Scope.user($0, partition: partition) },
    ]
    return Viewer(
      layers: own.compactMap { $0 }
        + [Scope(kind: .public, subject: "", partition: partition)])
  }

  /// What the caller sees when reading a result of `scope`. Rendered results are shared by all who
  /// read the same scope, so no device's layer is in it.
  package func viewer(of scope: Scope) -> Viewer {
    guard scope.kind != .public else { return Viewer(layers: [scope]) }
    return Viewer(layers: [
      scope, Scope(kind: .public, subject: "", partition: scope.partition),
    ])
  }

  /// What goes upstream with a call made for `scope`.
  package func forwarded(for scope: Scope) -> [Header] {
    scope.kind == .public ? partitions : credentials + partitions
  }
}
