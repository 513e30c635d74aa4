import Accounts
import FoundationEssentials
import Gateway
import HTTPClient
import Model
import S3FileStore
import Transport

/// Findings about accounts, token issuers, file storage and push.
extension DoctorReport {
  static func accounts(_ settings: Settings) async -> [Finding] {
    var findings = (settings.accounts.isOn ? provider(settings) : []) + keyFile(settings.dataFolder)
    var issuers: [(name: String, keys: @Sendable (JSONExchange) -> RemoteKeys)] = []
    if settings.accounts.isOn, settings.accounts.provider == .auth0 {
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
          text: "without accounts.clientSecret passwords cannot be changed, and Auth0 counts wrong "
            + "passwords against this service's address")
      ]
    case .local:
      let isOpen = settings.accounts.signUp == .open
      guard isOpen, settings.hasServiceCredentials else {
        return [
          Finding(
            part: "accounts", verdict: .good,
            text: isOpen
              ? "stored here; anyone can sign up" : "stored here; only the operator adds users")
        ]
      }
      return [
        Finding(
          part: "accounts", verdict: .note,
          text:
            "anyone can sign up, and every signed-in user sees data fetched with the service's own "
            + "credentials; set accounts.signUp: admin to prevent this")
      ]
    }
  }

  /// Checks the mode of the key file, which opens every sealed secret in the database.
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
          ? "\(path) is readable only by its owner"
          : "\(path) is readable by others; it opens every secret in the database. Set its mode "
            + "to 600")
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
      return Finding(
        part: "issuer", verdict: .good, text: "\(name) returned \(count.counted("key"))")
    } catch {
      return Finding(
        part: "issuer", verdict: .bad, text: "\(name): \(error)",
        cure: "Check its URL in the section accounts, and that this machine reaches it.")
    }
  }
}

extension DoctorReport {
  /// Whether the S3-compatible service responds, accepts the keys, and has the buckets.
  static func files(_ settings: FilesSettings) async -> [Finding] {
    guard settings.isOn, settings.store == .s3, let endpoint = settings.endpoint else { return [] }
    do {
      let group = try EventLoopGroup(count: 1)
      let http = try S3Assembly.httpClient(settings, group: group)
      let store = S3FileStore(
        client: try S3Assembly.client(settings, http: http, clock: SystemClock.wall),
        sweptBuckets: [])
      let finding = await ask(store, for: settings.buckets.keys.sorted(), at: endpoint.text)
      await http.close()
      await group.shutdown()
      return [finding]
    } catch {
      return [Finding(part: "files", verdict: .bad, text: "\(error)")]
    }
  }

  private static func ask(
    _ store: S3FileStore, for buckets: [String], at endpoint: String
  ) async -> Finding {
    var missing: [String] = []
    do throws(FileStoreError) {
      // Keys without the right to list all buckets are sufficient.
      if buckets.isEmpty { _ = try await store.buckets() }
      for name in buckets.compactMap({ BucketName($0) }) {
        do throws(FileStoreError) {
          _ = try await store.bucket(name)
        } catch {
          guard error == .noSuchBucket else { throw error }
          missing.append(name.text)
        }
      }
    } catch {
      return Finding(
        part: "files", verdict: .bad, text: "\(endpoint): \(message(for: error))",
        cure: "Check files.endpoint, files.accessKey and files.secretKey.")
    }
    return Finding(
      part: "files", verdict: missing.isEmpty ? .good : .note,
      text: missing.isEmpty
        ? "\(endpoint) responds"
        : "\(endpoint) responds; the start will create \(missing.joined(separator: ", "))")
  }

  private static func message(for error: FileStoreError) -> String {
    switch error {
    case .unavailable: "it cannot be reached"
    case .denied: "it rejects files.accessKey and files.secretKey, or they lack permissions"
    case .other(let cause): cause
    default: "\(error)"
    }
  }
}

extension DoctorReport {
  /// Timeout of the probe, which OneSignal answers at once; far below that of a batch.
  private static let pushTimeout = Duration.seconds(10)

  /// Whether OneSignal responds and accepts the key for the application. No one is notified.
  static func push(_ settings: PushSettings) async -> [Finding] {
    guard settings.isOn, settings.sender == .onesignal else { return [] }
    do {
      let group = try EventLoopGroup(count: 1)
      let oneSignal = OneSignalSettings(settings)
      let client = try PushAssembly.client(of: oneSignal, group: group)
      let sender = OneSignalSender(oneSignal, clock: SystemClock.wall) {
        request, limit throws(HTTPClientError) in
        try await client.execute(request, within: min(limit, pushTimeout))
      }
      let finding = await ask(sender, at: oneSignal.base)
      await client.close()
      await group.shutdown()
      return [finding]
    } catch {
      return [Finding(part: "push", verdict: .bad, text: "\(error)")]
    }
  }

  private static func ask(_ sender: OneSignalSender, at base: String) async -> Finding {
    do throws(PushFault) {
      try await sender.probe()
      return Finding(
        part: "push", verdict: .good, text: "\(base) responds and accepts push.apiKey")
    } catch {
      let (verdict, text) = message(for: error)
      return Finding(
        part: "push", verdict: verdict, text: "\(base): \(text)",
        cure: verdict == .bad ? "Check push.appId, push.apiKey, push.api and push.url." : nil)
    }
  }

  private static func message(for fault: PushFault) -> (Finding.Verdict, String) {
    switch fault {
    case .notSent(let reason): (.bad, "it cannot be reached: \(reason)")
    case .unknown(let reason): (.bad, "its response is not one of OneSignal: \(reason)")
    case .credentialsRefused(let reason):
      (.bad, "it rejects push.apiKey for push.appId and push.api: \(reason)")
    case .permanent(let reason):
      (.bad, "it does not know push.appId, or push.url is not OneSignal: \(reason)")
    case .transient(_, let reason):
      (.note, "it is busy, so push.apiKey was not checked: \(reason)")
    }
  }
}
