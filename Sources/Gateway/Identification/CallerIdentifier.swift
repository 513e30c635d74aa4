package import Accounts
import Cryptography
package import Model

/// Identifies the caller from request headers (`Authorization`, `Cookie`, `Device-Token`, and the
/// configured forwarded headers).
package struct CallerIdentifier: Sendable {
  /// Names of credential headers; responses to requests with them are private.
  private static let credentialNames: Set<String> = ["authorization", "cookie"]

  private let adminToken: [UInt8]?
  private let subjectKey: SymmetricKey
  private let partitionKey: SymmetricKey
  /// Whether tokens issued by this service are sent upstream.
  private let forwardsOwnTokens: Bool
  /// Nil if all tokens are opaque.
  private let tokens: TokenVerifier?
  private let devices: DeviceRegistry
  package let tickets: StreamTickets
  private let storedRoles: Set<Role>
  /// Forwarded header names in lower case.
  package let forwardedNames: [String]

  /// - Parameter forwardsOwnTokens: whether tokens issued by this service are sent upstream if
  ///   settings forward `authorization` and no service credentials replace it.
  package init(
    adminToken: String?, forwardedNames: [String], keys: KeyRing,
    tokens: TokenVerifier? = nil, forwardsOwnTokens: Bool = true, devices: DeviceRegistry,
    tickets: StreamTickets, storedRoles: Set<Role> = []
  ) {
    self.forwardsOwnTokens = forwardsOwnTokens
    self.adminToken = adminToken.map { Array($0.utf8) }
    // Device tokens are for this service only and are never forwarded, whatever the settings say.
    self.forwardedNames = forwardedNames.map { $0.lowercased() }.filter { $0 != "device-token" }
    subjectKey = keys.key(for: .subject)
    partitionKey = keys.key(for: .partition)
    self.tokens = tokens
    self.devices = devices
    self.tickets = tickets
    self.storedRoles = storedRoles
  }

  package var isAdminOn: Bool { adminToken != nil }

  /// - Parameter header: returns the value of a header by its lower-case name, its lines joined;
  ///   nil if absent.
  package func caller(header: (String) -> String?) async throws(Failure) -> Caller {
    var caller = try await callerWithoutDevice(header: header)
    if let token = header("device-token") {
      let (device, digest) = try await devices.identify(token: token, user: caller.user)
      caller.device = Caller.Device(id: device.id, tokenDigest: digest)
      caller.isOpenDevice = devices.isOpen && device.user == nil
    }
    return caller
  }

  /// Identifies the caller by a stream ticket. A revoked device, a replaced device token and an
  /// expired user token are refused as they are without a ticket.
  package func caller(ticket: String) async throws(Failure) -> Caller {
    let caller = try tickets.redeem(ticket)
    try await devices.confirm(caller)
    return caller
  }

  /// Whether a request has the admin token, for routes that need nothing else of the caller.
  package func isAdmin(header: (String) -> String?) -> Bool {
    header("authorization").flatMap(Self.bearerToken).map(isAdminToken) ?? false
  }

  private func callerWithoutDevice(
    header: (String) -> String?
  ) async throws(Failure) -> Caller {
    let token = header("authorization").flatMap(Self.bearerToken)
    let isAdmin = token.map(isAdminToken) ?? false
    var verified: Caller.Verified?
    if let token, !isAdmin { verified = try await verify(token) }
    var credentials: [Caller.Header] = []
    var partitions: [Caller.Header] = []
    for name in forwardedNames {
      guard let value = header(name) else { continue }
      if !Self.credentialNames.contains(name) {
        partitions.append(partition(name, value))
      } else if name != "authorization" || !isAdmin && isForwarded(verified?.user) {
        credentials.append(Caller.Header(name: name, value: value))
      }
    }
    return Caller(
      credentials: credentials,
      partitions: partitions,
      subject: subject(of: credentials, user: verified?.user.id),
      user: verified?.user.id,
      verified: verified,
      isAdmin: isAdmin,
      hasToken: token != nil && !isAdmin,
      storedRoles: storedRoles)
  }

  private func isForwarded(_ user: VerifiedUser?) -> Bool {
    forwardsOwnTokens || user?.isOwn != true
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

  private func isAdminToken(_ token: String) -> Bool {
    guard let adminToken else { return false }
    return constantTimeEqual(
      Array(SHA256.hash(data: adminToken)), Array(SHA256.hash(data: Array(token.utf8))))
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
  private static func bearerToken(_ authorization: String) -> String? {
    let parts = authorization.split(whereSeparator: { $0 == " " || $0 == "\t" })
    guard parts.count == 2, parts[0].lowercased() == "bearer" else { return nil }
    return String(parts[1])
  }
}
