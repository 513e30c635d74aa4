import Accounts
package import Model
package import Upstream

/// The caller of a request, as reads and upstream calls need it.
package struct Caller: Sendable {
  package struct Header: Hashable, Sendable {
    /// In lower case.
    package let name: String
    package let value: String
    /// The digest stored in place of the value, if the header's name marks it as a credential.
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
    /// The digest of the device token, by which the store finds the device until the token is
    /// replaced.
    package let tokenDigest: String
    package let access: DeviceAccess
    /// When the token ends; nil for the device's own token.
    package let expires: Timestamp?

    package init(
      id: String, tokenDigest: String, access: DeviceAccess = .full, expires: Timestamp? = nil
    ) {
      self.id = id
      self.tokenDigest = tokenDigest
      self.access = access
      self.expires = expires
    }
  }

  /// What one of several upstreams receives of a request.
  struct Share: Hashable, Sendable {
    let credentials: [Header]
    let partitions: [Header]
    let subject: String?
    /// See ``ForwardingRule/markers(of:)``.
    let marker: String?
  }

  /// A verified token and its user.
  struct Verified: Sendable {
    let user: VerifiedUser
    let token: String
  }

  /// The forwarded headers that are user credentials (`authorization`, `cookie`).
  package let credentials: [Header]
  /// The other forwarded headers, which partition the cache. Those whose names mark them as
  /// credentials have digests, so that no scope contains them in clear text.
  package let partitions: [Header]
  /// The subject that upstream responses are stored under: ``user`` if the verified token is the
  /// only credential sent upstream, otherwise a digest of ``credentials``; nil without credentials.
  package let subject: String?
  /// The user of a token verified by this service. An opaque token is checked by upstream and signs
  /// no one in: the next opaque token may belong to the same user.
  package let user: String?
  /// The source of ``user``; nil in tests that make up a user.
  let verified: Verified?
  /// The role of the operator who sent the request; nil for other callers. A viewer reads what the holder
  /// of the admin token reads; see ``admitWriting()``.
  package private(set) var operatorRole: OperatorRole?
  /// The console's session that makes the caller an operator; nil for a bearer token.
  private(set) var session: OperatorSession?
  /// Whether the request has another bearer token, forwarded or not.
  package let hasToken: Bool
  package internal(set) var device: Device?
  /// Whether anyone could have registered the device, and it has no user.
  package internal(set) var isOpenDevice = false
  /// The network that the request came from; nil for what the service does by itself, and for queued
  /// mutations.
  package var network: ClientNetwork?
  /// The roles that operations store responses for, whether or not this caller has them.
  let storedRoles: Set<Role>
  /// What each of several upstreams receives; empty if there is one, which receives all. Then
  /// ``credentials``, ``partitions`` and ``subject`` are those of all upstreams together.
  var shares: [UpstreamName: Share] = [:]
  /// The first line of ``partition``; nil for none.
  private var marker: String?

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
      verified: nil, operatorRole: isAdmin ? .admin : nil, hasToken: hasToken, device: device,
      storedRoles: storedRoles)
  }

  init(
    credentials: [Header], partitions: [Header], subject: String?, user: String?,
    verified: Verified?, operatorRole: OperatorRole?, hasToken: Bool, device: Device? = nil,
    storedRoles: Set<Role> = []
  ) {
    self.credentials = credentials
    self.partitions = partitions
    self.subject = subject
    self.user = user
    self.verified = verified
    self.operatorRole = operatorRole
    self.hasToken = hasToken
    self.device = device
    self.storedRoles = storedRoles
  }

  package static let anonymous = Caller()

  /// Whether the caller has the rights of the admin token. Those of a viewer only read; routes that write
  /// refuse viewers.
  package var isAdmin: Bool { operatorRole != nil }

  /// The id by which the caller's streams end when its credential is revoked: the device's, or the console
  /// session's; nil for other callers.
  var revocableID: String? { device?.id ?? session?.id }

  /// Whether a forwarded header is a credential; others partition the cache.
  ///
  /// - Parameter name: in lower case.
  package static func isCredential(_ name: String) -> Bool {
    ForwardedHeaders.credentials.contains(name)
  }

  /// Returns the caller as the operator of a session.
  package func acting(in session: OperatorSession) -> Caller {
    var caller = self
    caller.operatorRole = session.role
    caller.session = session
    return caller
  }

  /// Throws ``Model/Failure/Code/readOnly`` if the caller's device token only reads, or the caller is an
  /// operator who only reads.
  package func admitWriting() throws(Failure) {
    if device?.access == .read { throw Failure.readOnly }
    if operatorRole == .viewer { throw Failure.viewerReads }
  }

  /// Returns a caller without headers, as several upstreams see it.
  static func service(rules: [UpstreamName: ForwardingRule]) -> Caller {
    var caller = Caller()
    let markers = ForwardingRule.markers(of: rules)
    caller.shares = Dictionary(
      uniqueKeysWithValues: rules.keys.map { name in
        (name, Share(credentials: [], partitions: [], subject: nil, marker: markers[name]))
      })
    return caller
  }

  /// The time from which the token behind ``user`` is refused; nil without a user.
  package var userExpires: Timestamp? { verified?.user.expires }

  /// The canonical text of ``partitions``, for ``Model/Scope/partition``.
  package var partition: String { Self.partition(partitions, marker) }

  private static func partition(_ headers: [Header], _ marker: String?) -> String {
    let lines = headers.map { "\($0.name):\($0.digest ?? $0.value)" }.sorted()
    return ((marker.map { [$0] } ?? []) + lines).joined(separator: "\n")
  }

  /// Returns the caller as an upstream sees it: with the headers that it receives, and no others.
  package func seen(by upstream: UpstreamName) -> Caller {
    guard !shares.isEmpty else { return self }
    let share = shares[upstream]
    var seen = Caller(
      credentials: share?.credentials ?? [], partitions: share?.partitions ?? [],
      subject: share?.subject, user: user, verified: verified, operatorRole: operatorRole,
      hasToken: hasToken, device: device, storedRoles: storedRoles)
    seen.isOpenDevice = isOpenDevice
    seen.network = network
    seen.session = session
    seen.marker = share?.marker
    return seen
  }

  /// Returns the caller without headers of other names: an upstream receives nothing that settings
  /// do not forward to it, even if it was stored for another upstream.
  func limited(to names: [String]) -> Caller {
    var limited = Caller(
      credentials: credentials.filter { names.contains($0.name) },
      partitions: partitions.filter { names.contains($0.name) }, subject: subject, user: user,
      verified: verified, operatorRole: operatorRole, hasToken: hasToken, device: device,
      storedRoles: storedRoles)
    limited.isOpenDevice = isOpenDevice
    limited.network = network
    limited.session = session
    limited.marker = marker
    return limited
  }

  /// Whether a partition header is a credential by its name, or as long as one. Shared caches must
  /// not keep such responses.
  package var hasSecretPartition: Bool { partitions.contains { $0.digest != nil } }

  /// Whether the caller has authenticated as a role.
  package func holds(_ role: Role) -> Bool {
    switch role {
    case .device: device != nil
    case .user: user != nil
    case .admin: isAdmin
    }
  }

  /// The verified token's claims that operations share responses by.
  package var claims: [Claim] { verified?.user.claims ?? [] }

  /// The scope that an upstream response for this caller is stored in.
  package func scope(of operation: RegisteredOperation) -> Scope {
    seen(by: operation.upstream).scope(
      sharing: operation.kind == .mutation ? .user : operation.cache.sharing,
      role: operation.access.role?.demanded)
  }

  /// The scope that an upstream response for this caller is stored in: the caller's own if a
  /// credential is sent, unless the operation declares the response shared by a group. A response
  /// fetched with the service's own credentials has the scope of the role that the operation
  /// requires, or is public.
  ///
  /// - Parameter role: the role required to call the operation.
  package func scope(sharing: CachePolicy.Sharing, role: Role? = nil) -> Scope {
    switch sharing {
    case .user:
      if let subject { return .user(subject, partition: partition) }
    case .claim(let name):
      // A caller without the claim is refused; no viewer has the scope of an empty value.
      let none = Claim(name: name, issuer: "", value: "")
      return .claim(claims.first { $0.name == name } ?? none, partition: partition)
    case .public: break
    }
    if let role { return .role(role, partition: partition) }
    return Scope(kind: .public, subject: "", partition: partition)
  }

  /// The scopes the caller sees, highest precedence first: device, user, claims, roles, public. A
  /// user's local data has other types than upstream data, so neither shadows the other.
  ///
  /// Of several upstreams it has the scopes of each.
  package var viewer: Viewer {
    let subjects = subjects
    let partitions = Self.distinct(subjects.map(\.partition))
    var layers: [Scope] = []
    if let device { layers.append(.ownData(ofDevice: device.id)) }
    if let user { layers.append(.ownData(ofUser: user)) }
    for (subject, partition) in subjects {
      if let subject { layers.append(.user(subject, partition: partition)) }
    }
    for claim in claims { layers += partitions.map { .claim(claim, partition: $0) } }
    for role in [Role.admin, .user, .device] where storedRoles.contains(role) && holds(role) {
      layers += partitions.map { .role(role, partition: $0) }
    }
    layers += partitions.map { Scope(kind: .public, subject: "", partition: $0) }
    return Viewer(layers: Self.distinct(layers))
  }

  /// The subject and the partition under which each upstream's responses are stored.
  private var subjects: [(subject: String?, partition: String)] {
    guard !shares.isEmpty else { return [(subject, partition)] }
    return shares.sorted { $0.key < $1.key }.map { _, share in
      (share.subject, Self.partition(share.partitions, share.marker))
    }
  }

  /// Without repetition, in order of first occurrence.
  private static func distinct<Value: Hashable>(_ values: [Value]) -> [Value] {
    guard values.count > 1 else { return values }
    var seen: Set<Value> = []
    return values.filter { seen.insert($0).inserted }
  }

  /// The scopes for reading a result of `scope`. Rendered results are shared by all readers of the
  /// scope, so no device scope is included.
  package func viewer(of scope: Scope) -> Viewer {
    guard scope.kind != .public else { return Viewer(layers: [scope]) }
    return Viewer(layers: [
      scope, Scope(kind: .public, subject: "", partition: scope.partition),
    ])
  }

  /// The headers sent upstream with a call made for `scope`.
  package func forwarded(for scope: Scope) -> [Header] {
    switch scope.kind {
    case .public, .role: partitions
    // A cookie can identify the caller more precisely than the group's shared claim.
    case .claim: credentials.filter { $0.name == "authorization" } + partitions
    case .user, .device: credentials + partitions
    }
  }
}

extension Failure {
  /// The refusal of a request that does more than its device token permits.
  static var readOnly: Failure {
    Failure(
      .readOnly,
      "The device token only reads: it permits reads, streams and diffs. Send other requests with a "
        + "token of full access.")
  }

  /// The refusal of a viewer's request to write.
  package static var viewerReads: Failure {
    Failure(
      .readOnly, "The viewer role only reads. Sign in with the admin token for this request.")
  }
}
