import Accounts
package import Model
package import Upstream

/// Who asks, as far as reads and upstream calls need to know.
package struct Caller: Sendable {
  package struct Header: Hashable, Sendable {
    /// In lower case.
    package let name: String
    package let value: String
    /// What stands for the value wherever it is stored, where its name says that it is a credential.
    package let digest: String?

    package init(name: String, value: String, digest: String? = nil) {
      self.name = name
      self.value = value
      self.digest = digest
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
  /// The other forwarded headers: they split the cache. Those that are credentials by their names
  /// have digests, so that no scope holds them in clear.
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
  /// Whether the device is one that anyone could have registered, and no user's.
  package internal(set) var isOpenDevice = false
  /// The roles that some operation stores its responses for, held by this caller or not.
  let storedRoles: Set<Role>

  package init(
    credentials: [Header] = [],
    partitions: [Header] = [],
    subject: String? = nil,
    user: String? = nil,
    isAdmin: Bool = false,
    hasToken: Bool = false,
    device: Device? = nil,
    storedRoles: Set<Role> = []
  ) {
    self.init(
      credentials: credentials, partitions: partitions, subject: subject, user: user,
      verified: nil, isAdmin: isAdmin, hasToken: hasToken, device: device,
      storedRoles: storedRoles)
  }

  init(
    credentials: [Header], partitions: [Header], subject: String?, user: String?,
    verified: Verified?, isAdmin: Bool, hasToken: Bool, device: Device? = nil,
    storedRoles: Set<Role> = []
  ) {
    self.credentials = credentials
    self.partitions = partitions
    self.subject = subject
    self.user = user
    self.verified = verified
    self.isAdmin = isAdmin
    self.hasToken = hasToken
    self.device = device
    self.storedRoles = storedRoles
  }

  package static let anonymous = Caller()

  /// When the token that ``user`` was read from is refused; nil without a user.
  package var userExpires: Timestamp? { verified?.user.expires }

  /// The canonical text of ``partitions``, as ``Model/Scope/partition`` wants it.
  package var partition: String {
    partitions.map { "\($0.name):\($0.digest ?? $0.value)" }.sorted().joined(separator: "\n")
  }

  /// Some partition header is a credential by its name, or as long as one: shared caches must not
  /// keep what was got with it.
  package var hasSecretPartition: Bool { partitions.contains { $0.digest != nil } }

  /// Whether the caller has proved to be what a role demands.
  package func holds(_ role: Role) -> Bool {
    switch role {
    case .device: device != nil
    case .user: user != nil
    case .admin: isAdmin
    }
  }

  /// The claims of the verified token that operations share responses by.
  package var claims: [Claim] { verified?.user.claims ?? [] }

  /// The scope of what upstream answers this caller.
  package func scope(of operation: RegisteredOperation) -> Scope {
    scope(
      sharing: operation.kind == .mutation ? .user : operation.cache.sharing,
      role: operation.access.role?.demanded)
  }

  /// The scope of what upstream answers this caller: the caller's own whenever a credential goes
  /// along, unless it is declared to be the group's. What the service itself fetched is of the role
  /// that the operation demands, and public without one.
  ///
  /// - Parameter role: what a caller must be to call the operation.
  package func scope(sharing: CachePolicy.Sharing, role: Role? = nil) -> Scope {
    switch sharing {
    case .user:
      if let subject { return .user(subject, partition: partition) }
    case .claim(let name):
      // A caller without the claim is refused; no viewer ever has the scope of no value.
      let none = Claim(name: name, issuer: "", value: "")
      return .claim(claims.first { $0.name == name } ?? none, partition: partition)
    case .public: break
    }
    if let role { return .role(role, partition: partition) }
    return Scope(kind: .public, subject: "", partition: partition)
  }

  /// Everything the caller sees: the device over its user over the values of its claims over its
  /// roles over what is public. A user's own data is of other types than what upstream told the
  /// user, so neither ever lies over the other.
  package var viewer: Viewer {
    let partition = partition
    var layers: [Scope] = []
    if let device { layers.append(.ownData(ofDevice: device.id)) }
    if let user { layers.append(.ownData(ofUser: user)) }
    if let subject { layers.append(.user(subject, partition: partition)) }
    for claim in claims { layers.append(.claim(claim, partition: partition)) }
    for role in [Role.admin, .user, .device] where storedRoles.contains(role) && holds(role) {
      layers.append(.role(role, partition: partition))
    }
    layers.append(Scope(kind: .public, subject: "", partition: partition))
    return Viewer(layers: layers)
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
    switch scope.kind {
    case .public, .role: partitions
    // A cookie may say more of the caller than the token that all members of the group have alike.
    case .claim: credentials.filter { $0.name == "authorization" } + partitions
    case .user, .device: credentials + partitions
    }
  }
}
