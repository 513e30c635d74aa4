package import Accounts
import Cryptography
package import Model

/// Identifies the caller from request headers (`Authorization`, `Cookie`, `Device-Token`, and the
/// configured forwarded headers).
package struct CallerIdentifier: Sendable {
  /// Names of credential headers; responses to requests with them are private.
  private static let credentialNames: Set<String> = ["authorization", "cookie"]

  private let operators: OperatorTokens
  /// The sessions of operators who signed in to the console; nil if there are none.
  package let sessions: OperatorSessions?
  private let subjectKey: SymmetricKey
  private let partitionKey: SymmetricKey
  /// Nil if all tokens are opaque.
  private let tokens: TokenVerifier?
  private let devices: DeviceRegistry
  package let tickets: StreamTickets
  private let storedRoles: Set<Role>
  /// Names of the headers forwarded to any upstream, in lower case.
  package let forwardedNames: [String]
  /// The rule of each upstream.
  private let rules: [UpstreamName: ForwardingRule]
  private let markers: [UpstreamName: String]

  /// Creates an identifier for a service with one upstream.
  ///
  /// - Parameter forwardsOwnTokens: whether tokens issued by this service are sent upstream if
  ///   settings forward `authorization` and no service credentials replace it.
  package init(
    adminToken: String?, viewerToken: String? = nil, forwardedNames: [String], keys: KeyRing,
    tokens: TokenVerifier? = nil, forwardsOwnTokens: Bool = true, devices: DeviceRegistry,
    tickets: StreamTickets, sessions: OperatorSessions? = nil, storedRoles: Set<Role> = []
  ) {
    self.init(
      adminToken: adminToken, viewerToken: viewerToken,
      rules: [
        .sole: ForwardingRule(names: forwardedNames, forwardsOwnTokens: forwardsOwnTokens)
      ], keys: keys, tokens: tokens, devices: devices, tickets: tickets,
      sessions: sessions, storedRoles: storedRoles)
  }

  /// - Parameters:
  ///   - viewerToken: the token of operators who only read; nil for none.
  ///   - rules: what each upstream receives of a request.
  ///   - sessions: of operators who signed in to the console; nil without sign-in.
  package init(
    adminToken: String?, viewerToken: String? = nil, rules: [UpstreamName: ForwardingRule],
    keys: KeyRing, tokens: TokenVerifier? = nil, devices: DeviceRegistry,
    tickets: StreamTickets, sessions: OperatorSessions? = nil, storedRoles: Set<Role> = []
  ) {
    operators = OperatorTokens(admin: adminToken, viewer: viewerToken)
    self.sessions = sessions
    self.rules = rules
    markers = ForwardingRule.markers(of: rules)
    var seen: Set<String> = []
    forwardedNames = rules.sorted { $0.key < $1.key }.flatMap(\.value.names)
      .filter { seen.insert($0).inserted }
    subjectKey = keys.key(for: .subject)
    partitionKey = keys.key(for: .partition)
    self.tokens = tokens
    self.devices = devices
    self.tickets = tickets
    self.storedRoles = storedRoles
  }

  /// Whether the settings have an admin token.
  package var isAdminOn: Bool { operators.isOn }

  /// - Parameter header: returns the value of a header by its lower-case name, its lines joined;
  ///   nil if absent.
  package func caller(header: (String) -> String?) async throws(Failure) -> Caller {
    var caller = try await callerWithoutDevice(header: header)
    if let token = header("device-token") {
      let (device, digest) = try await devices.identify(token: token, user: caller.user)
      caller.device = Caller.Device(
        id: device.id, tokenDigest: digest, access: device.access, expires: device.tokenExpires)
      caller.isOpenDevice = devices.isOpen && device.user == nil
    }
    return caller
  }

  /// Throws ``Model/Failure/Code/readOnly`` for a device token that only reads, whatever else the request
  /// carries. An unknown token passes: routes that identify their caller refuse it.
  package func admitWriting(deviceToken: String) async throws(Failure) {
    do throws(Failure) {
      try await devices.admitWriting(token: deviceToken)
    } catch {
      if error.code != .unauthenticated { throw error }
    }
  }

  /// Identifies the caller by a stream ticket. A revoked device, a replaced device token and an
  /// expired user token are refused as they are without a ticket.
  ///
  /// - Parameter target: the stream that it is used for.
  /// - Returns: the caller, and what the stream must hold until it ends.
  package func caller(
    ticket: String, for target: StreamTarget
  ) async throws(Failure) -> (caller: Caller, lease: StreamLease?) {
    let redeemed = try tickets.redeem(ticket, for: target)
    try await devices.confirm(redeemed.caller)
    return (redeemed.caller, redeemed.lease)
  }

  /// Returns the role of the operator's token in `Authorization`; nil without one. For routes that need
  /// nothing else of the caller.
  package func operatorRole(header: (String) -> String?) -> OperatorRole? {
    header("authorization").flatMap(Self.bearerToken).flatMap(operators.role)
  }

  private func callerWithoutDevice(
    header: (String) -> String?
  ) async throws(Failure) -> Caller {
    let token = header("authorization").flatMap(Self.bearerToken)
    let role = token.flatMap(operators.role)
    var verified: Caller.Verified?
    if let token, role == nil { verified = try await verify(token) }
    try devices.disabled.admit(verified?.user.id)
    var credentials: [Caller.Header] = []
    var partitions: [Caller.Header] = []
    for name in forwardedNames {
      guard var value = header(name) else { continue }
      if name == "cookie" {
        guard let others = OperatorCookie.removed(from: value) else { continue }
        value = others
      }
      if !Self.credentialNames.contains(name) {
        partitions.append(partition(name, value))
      } else if name != "authorization"
        || role == nil && rules.values.contains(where: { forwards(verified?.user, by: $0) })
      {
        credentials.append(Caller.Header(name: name, value: value))
      }
    }
    var caller = Caller(
      credentials: credentials,
      partitions: partitions,
      subject: subject(of: credentials, user: verified?.user.id),
      user: verified?.user.id,
      verified: verified,
      operatorRole: role,
      hasToken: token != nil && role == nil,
      storedRoles: storedRoles)
    if rules.count > 1 { caller.shares = shares(of: caller, verified?.user) }
    return caller
  }

  /// Divides the headers of all upstreams among them.
  private func shares(
    of caller: Caller, _ user: VerifiedUser?
  ) -> [UpstreamName: Caller.Share] {
    var known: [ForwardingRule: Caller.Share] = [:]
    var shares: [UpstreamName: Caller.Share] = [:]
    for (upstream, rule) in rules {
      let marker = markers[upstream]
      if let share = known[rule] {
        shares[upstream] = share
        continue
      }
      let credentials = caller.credentials.filter { header in
        rule.names.contains(header.name)
          && (header.name != "authorization" || forwards(user, by: rule))
      }
      let share = Caller.Share(
        credentials: credentials,
        partitions: caller.partitions.filter { rule.names.contains($0.name) },
        subject: subject(of: credentials, user: user?.id), marker: marker)
      known[rule] = share
      shares[upstream] = share
    }
    return shares
  }

  /// Whether the token in `authorization` is forwarded, if that header is.
  private func forwards(_ user: VerifiedUser?, by rule: ForwardingRule) -> Bool {
    rule.forwardsOwnTokens || user?.isOwn != true
  }

  /// Longest partition value that is stored as it is; longer ones are stored as digests.
  private static let partitionBytesMax = 128

  private func partition(_ name: String, _ value: String) -> Caller.Header {
    guard CredentialName.matches(name) || value.utf8.count > Self.partitionBytesMax else {
      return Caller.Header(name: name, value: value)
    }
    let code = HMAC<SHA256>.authenticationCode(
      for: Array("\(name):\(value)".utf8), using: partitionKey)
    return Caller.Header(name: name, value: value, digest: Base64URL.encode(code))
  }

  /// Nil for an opaque token, which upstream checks.
  private func verify(_ token: String) async throws(Failure) -> Caller.Verified? {
    do throws(TokenFault) {
      guard let user = try await tokens?.verify(token) else { return nil }
      return Caller.Verified(user: user, token: token)
    } catch {
      throw Failure(error)
    }
  }

  /// Returns the user id if a verified token is the only credential, otherwise a digest: a subject
  /// found in a database or a log must grant nothing.
  private func subject(of credentials: [Caller.Header], user: String?) -> String? {
    guard !credentials.isEmpty else { return nil }
    if let user, credentials.allSatisfy({ $0.name == "authorization" }) { return user }
    let text = credentials.map { "\($0.name):\($0.value.utf8.count):\($0.value)" }.joined()
    return Base64URL.encode(
      HMAC<SHA256>.authenticationCode(for: Array(text.utf8), using: subjectKey))
  }

  /// RFC 6750 section 2.1; the scheme's name is case-insensitive (RFC 9110 section 11.1).
  package static func bearerToken(_ authorization: String) -> String? {
    let parts = authorization.split(whereSeparator: { $0 == " " || $0 == "\t" })
    guard parts.count == 2, parts[0].lowercased() == "bearer" else { return nil }
    return String(parts[1])
  }
}
