import Accounts
import FoundationEssentials
import HTTPClient
import Transport

/// Who keeps the users, whether issuers give their keys, and who may read ours.
extension DoctorReport {
  static func accounts(_ settings: Settings) async -> [Finding] {
    var findings = provider(settings) + keyFile(settings.dataFolder)
    var issuers: [(name: String, keys: @Sendable (JSONExchange) -> RemoteKeys)] = []
    if settings.accounts.provider == .auth0 {
      let auth0 = Auth0Settings(settings.accounts)
      issuers.append((auth0.base, { RemoteIssuers(exchange: $0).auth0Keys(auth0) }))
    }
    for issuer in settings.accounts.issuers.values {
      guard let name = issuer.url?.text else { continue }
      issuers.append(
        (name, { RemoteIssuers(exchange: $0).keys(at: issuer.keys?.text, issuer: name) }))
    }
    if !issuers.isEmpty { findings += await ask(issuers) }
    return findings
  }

  private static func provider(_ settings: Settings) -> [Finding] {
    switch settings.accounts.provider {
    case .auth0:
      guard settings.accounts.clientSecret == nil else { return [] }
      return [
        Finding(
          part: "accounts", verdict: .note,
          text: "without accounts.clientSecret no password can be changed, and Auth0 counts wrong "
            + "passwords against this service's address")
      ]
    case .local:
      let isOpen = settings.accounts.signUp == .open
      guard isOpen, settings.upstream.hasServiceCredentials else {
        return [
          Finding(
            part: "accounts", verdict: .good,
            text: isOpen ? "kept here, anybody may sign up" : "kept here, opened by the operator")
        ]
      }
      return [
        Finding(
          part: "accounts", verdict: .note,
          text: "anybody may sign up, and whoever signs in sees what is got with the service's own "
            + "credentials; accounts.signUp: admin closes that")
      ]
    }
  }

  /// It opens whatever is sealed in the database.
  private static func keyFile(_ folder: String) -> [Finding] {
    let path = "\(folder)/\(DataFolder.keyFileName)"
    guard let attributes = try? FileManager.default.attributesOfItem(atPath: path),
      let mode = mode(attributes[.posixPermissions])
    else { return [] }
    let isOwners = mode & 0o077 == 0
    return [
      Finding(
        part: "key", verdict: isOwners ? .good : .bad,
        text: isOwners
          ? "\(path) is its owner's alone"
          : "\(path) may be read by others; it opens every secret in the database")
    ]
  }

  private static func mode(_ value: Any?) -> Int? {
    value as? Int ?? (value as? UInt).map { Int($0) }
  }

  private static func ask(
    _ issuers: [(name: String, keys: @Sendable (JSONExchange) -> RemoteKeys)]
  ) async -> [Finding] {
    do {
      let group = try EventLoopGroup(count: 1)
      let client = HTTPClient(
        group: group, tls: try TLSClientContext(), random: { Double.random(in: 0..<1) })
      let exchange = JSONExchange { request, limit throws(HTTPClientError) in
        try await client.execute(request, within: limit)
      }
      var findings: [Finding] = []
      for issuer in issuers {
        findings.append(await ask(issuer.keys(exchange), name: issuer.name))
      }
      await client.close()
      await group.shutdown()
      return findings
    } catch {
      return [Finding(part: "accounts", verdict: .bad, text: "\(error)")]
    }
  }

  private static func ask(_ keys: RemoteKeys, name: String) async -> Finding {
    do throws(TokenFault) {
      let count = try await keys.probe()
      return Finding(part: "issuer", verdict: .good, text: "\(name) gives \(count) keys")
    } catch {
      return Finding(part: "issuer", verdict: .bad, text: "\(name): \(error)")
    }
  }
}
