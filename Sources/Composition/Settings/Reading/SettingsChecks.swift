import Gateway
import HTTPClient

/// Checks between settings that are each valid by themselves. A fault is placed at the setting that
/// requires another one; defaults require nothing.
struct SettingsChecks {
  let settings: Settings
  let places: [String: SettingPlace]

  func faults() -> [SettingsFault] {
    upstream + tls + parts + vendors + hooks + outgoingHooks + limits + admin + metrics + cors
      + folders + cluster + standby
  }

  /// Effects of valid settings that the operator may not expect.
  func notes() -> [SettingsNote] { ownTokens + upstreamParts + clusterNotes }

  /// Settings of upstreams that have no effect, or that the service does not start without.
  private var upstreamParts: [SettingsNote] {
    var notes: [SettingsNote] = []
    if settings.upstreams.isEmpty {
      if let place = places["schemas"] {
        notes.append(
          SettingsNote(
            place: place,
            message: "`schemas` has no effect without `upstreams`; the schema is `schema`"))
      }
      return notes
    }
    if let place = places["schema"] {
      notes.append(
        SettingsNote(
          place: place,
          message: "`schema` has no effect with `upstreams`; their schemas are in the folder"
            + " `schemas`, one file `NAME.graphql` each"))
    }
    for (name, upstream) in settings.upstreams.sorted(by: { $0.key < $1.key }) {
      guard let place = upstream.place, upstream.url == nil, places["upstreams.\(name).url"] == nil
      else { continue }
      notes.append(
        SettingsNote(
          place: place,
          message: "`upstreams.\(name)` has no `url`, which the service does not start without"))
    }
    return notes
  }

  private var ownTokens: [SettingsNote] {
    settings.allUpstreams.compactMap { named in
      let upstream = named.settings
      let setting = "\(named.section).forwardOwnTokens"
      guard settings.accounts.provider == .local, upstream.hasOwnCredential,
        upstream.forward.contains("authorization"), places[setting] == nil,
        let place = places["\(named.section).forward"]
      else { return nil }
      return SettingsNote(
        place: place,
        message: "tokens issued by this service are not forwarded, because upstream receives the"
          + " service's own credential: all signed-in users see the data that it gives access to;"
          + " set `\(setting): true` if upstream verifies these tokens, or false to"
          + " keep this behaviour")
    }
  }

  private var upstream: [SettingsFault] {
    oneSection
      + settings.allUpstreams.flatMap { named in
        secret(of: named) + sessionVariables(of: named) + subscriptions(of: named)
          + standing(of: named)
      } + links + unregistered
  }

  /// Rejects `upstream` beside `upstreams`: operations of the first would be in no folder.
  private var oneSection: [SettingsFault] {
    guard !settings.upstreams.isEmpty,
      let written = places.keys.filter({ $0.hasPrefix("upstream.") }).min()
    else { return [] }
    return fault(
      written,
      "`upstream` and `upstreams` cannot both be set; move the settings of `upstream` under a name"
        + " in `upstreams`")
  }

  private func secret(of named: NamedUpstream) -> [SettingsFault] {
    guard named.settings.secret != nil, named.settings.dialect == .plain else { return [] }
    return fault(
      "\(named.section).secret",
      "`\(named.section).secret` needs `\(named.section).dialect: hasura` or `appsync`")
  }

  /// Rejects forwarded session variables together with the service's own. Only the `hasura` dialect
  /// keeps a caller's session variables from being sent with the service's secret; with any other,
  /// callers would choose the role that the secret acts as.
  private func sessionVariables(of named: NamedUpstream) -> [SettingsFault] {
    let prefix = "x-hasura-"
    let upstream = named.settings
    guard upstream.dialect != .hasura,
      let own = upstream.headers.keys.filter({ $0.hasPrefix(prefix) }).min(),
      let forwarded = upstream.forward.filter({ $0.hasPrefix(prefix) }).min()
    else { return [] }
    return fault(
      "\(named.section).forward",
      "`\(named.section).forward` has `\(forwarded)` and `\(named.section).headers` has `\(own)`:"
        + " callers would choose the role or user that the service's secret acts as; set"
        + " `\(named.section).dialect: hasura`")
  }

  private var links: [SettingsFault] {
    settings.links.sorted { $0.key < $1.key }.flatMap { name, link in
      needs("links.\(name).type", link.type, "links.\(name).field", link.field)
        + needs("links.\(name).field", link.field, "links.\(name).type", link.type)
    }
  }

  private func subscriptions(of named: NamedUpstream) -> [SettingsFault] {
    let upstream = named.settings
    let section = named.section
    let choice = upstream.subscriptions.rawValue
    switch (upstream.dialect, upstream.subscriptions) {
    case (.appsync, .transportWS), (.appsync, .sse):
      return fault(
        "\(section).subscriptions",
        "AppSync does not speak `\(choice)`; set `\(section).subscriptions` to `auto`, or to"
          + " `graphql-ws` to send the credential in the URL")
    case (_, .sse) where upstream.websocketURL != nil, (_, .off) where upstream.websocketURL != nil:
      return fault(
        "\(section).websocket",
        "`\(section).websocket` has no effect with `\(section).subscriptions: \(choice)`; remove one"
          + " of the two")
    default: return []
    }
  }

  private func standing(of named: NamedUpstream) -> [SettingsFault] {
    guard named.settings.subscriptions == .off, !named.settings.standing.isEmpty else { return [] }
    return fault(
      "\(named.section).standing",
      "`\(named.section).standing` needs subscriptions, which"
        + " `\(named.section).subscriptions: off` switches off; remove one of the two")
  }

  /// A document that is not registered names no upstream.
  private var unregistered: [SettingsFault] {
    guard settings.upstreams.count > 1, settings.graphQL.unregistered != .refuse else { return [] }
    return fault(
      "graphql.unregistered",
      "`graphql.unregistered` must be `refuse` with several upstreams: a document that is not"
        + " registered names none of them")
  }

  private var tls: [SettingsFault] {
    let tls = settings.tls
    var faults = pair("tls", tls.certificateFile, tls.keyFile)
    let further = tls.certificates.sorted { $0.key < $1.key }
    for (name, certificate) in further {
      faults += pair("tls.certificates.\(name)", certificate.certificateFile, certificate.keyFile)
    }
    if tls.certificateFile == nil, tls.keyFile == nil, let first = further.first?.key {
      faults += fault(
        "tls.certificates.\(first).certificate",
        "`tls.certificates` needs `tls.certificate`, which is for clients that request no name")
    }
    if tls.certificateFile == nil, tls.strictTransportAge != nil {
      faults += fault(
        "tls.hsts", "`tls.hsts` needs `tls.certificate`; behind a proxy, set HSTS in the proxy")
    }
    return faults
  }

  private func pair(_ section: String, _ certificate: String?, _ key: String?) -> [SettingsFault] {
    needs("\(section).certificate", certificate, "\(section).key", key)
      + needs("\(section).key", key, "\(section).certificate", certificate)
  }

  private var vendors: [SettingsFault] {
    var faults: [SettingsFault] = []
    if settings.accounts.isOn, settings.accounts.provider == .auth0 {
      faults += demand("accounts.provider", "auth0", "accounts.domain", settings.accounts.domain)
      faults += demand(
        "accounts.provider", "auth0", "accounts.clientId", settings.accounts.clientID)
      faults += demand(
        "accounts.provider", "auth0", "accounts.audience", settings.accounts.audience)
    }
    for (name, issuer) in settings.accounts.issuers.sorted(by: { $0.key < $1.key }) {
      let section = "accounts.issuers.\(name)"
      faults += needs("\(section).url", issuer.url?.text, "\(section).audience", issuer.audience)
      faults += needs("\(section).audience", issuer.audience, "\(section).url", issuer.url?.text)
      if issuer.url == nil, issuer.audience == nil {
        faults += needs("\(section).keys", issuer.keys?.text, "\(section).url", nil)
      }
    }
    if settings.files.isOn, settings.files.store == .s3 {
      faults += demand("files.store", "s3", "files.endpoint", settings.files.endpoint)
      faults += demand("files.store", "s3", "files.accessKey", settings.files.accessKey)
      faults += demand("files.store", "s3", "files.secretKey", settings.files.secretKey)
      faults += s3Store
    }
    if settings.push.isOn, settings.push.sender == .onesignal {
      faults += demand("push.sender", "onesignal", "push.appId", settings.push.appID)
      faults += demand("push.sender", "onesignal", "push.apiKey", settings.push.apiKey)
    }
    return faults
  }

  /// Settings that an S3-compatible service, which others write to as well, cannot enforce.
  private var s3Store: [SettingsFault] {
    var faults: [SettingsFault] = []
    for (name, bucket) in settings.files.buckets.sorted(by: { $0.key < $1.key }) {
      for (quota, bytes) in [("quota", bucket.quotaBytes), ("userQuota", bucket.userQuotaBytes)]
      where bytes != nil {
        faults += fault(
          "files.buckets.\(name).\(quota)",
          "`files.buckets.\(name).\(quota)` cannot be enforced with `files.store: s3`; remove it")
      }
    }
    if let target = settings.files.endpoint?.http.target, target != "/" {
      faults += fault("files.endpoint", "`files.endpoint` must not have a path, but has \(target)")
    }
    return faults
  }

  /// The minimum length of a secret that is sent as it is.
  private static let hookSecretMin = 16

  private var hooks: [SettingsFault] {
    settings.hooks.sorted { $0.key < $1.key }.flatMap { name, hook in
      self.faults(of: hook, at: "hooks.in.\(name)")
    }
  }

  private func faults(of hook: HookSettings, at section: String) -> [SettingsFault] {
    let written = ["format", "secret", "tables"].map { "\(section).\($0)" }
      .filter { places[$0] != nil }
    guard let first = written.first else { return [] }
    var faults: [SettingsFault] = []
    for needed in ["\(section).format", "\(section).secret"] where places[needed] == nil {
      faults += fault(first, "`\(section)` needs `\(needed)`")
    }
    switch hook.format {
    case .hasura:
      faults += demand("\(section).format", "hasura", "\(section).tables", hook.tables.first)
      if hook.secrets.contains(where: { $0.revealed.count < Self.hookSecretMin }) {
        faults += fault(
          "\(section).secret",
          "`\(section).secret` must have at least \(Self.hookSecretMin) characters with "
            + "`format: hasura`")
      }
    case .plain:
      if !hook.tables.isEmpty {
        faults += fault(
          "\(section).tables", "`\(section).tables` needs `format: hasura`; remove it")
      }
      if hook.secrets.contains(where: { WebhookSignature.key($0.revealed) == nil }) {
        faults += fault(
          "\(section).secret",
          "`\(section).secret` must be 24 to 64 bytes in base64 with `format: plain`, such as "
            + "the output of `openssl rand -base64 32`")
      }
    case nil: break
    }
    return faults
  }

  private var limits: [SettingsFault] {
    var faults: [SettingsFault] = []
    let head = settings.limits.headBytesMax
    for (name, bytes) in [
      ("limits.target", settings.limits.targetBytesMax),
      ("limits.field", settings.limits.fieldBytesMax),
    ] where bytes > head {
      faults += fault(
        places[name] == nil ? "limits.head" : name,
        "`\(name)` (\(ByteSize.print(bytes))) must not exceed `limits.head`"
          + " (\(ByteSize.print(head)))")
    }
    return faults
  }

  private var metrics: [SettingsFault] {
    guard settings.metrics.access == .admin, settings.adminToken == nil,
      places["admin.token"] == nil
    else { return [] }
    return fault("metrics.access", "`metrics.access: admin` needs `admin.token`")
  }

  private var admin: [SettingsFault] {
    guard let viewer = settings.viewerToken?.revealed else { return [] }
    let admin = settings.adminToken?.revealed
    guard viewer == admin else {
      return needs("admin.viewerToken", viewer, "admin.token", admin)
    }
    return fault("admin.viewerToken", "`admin.viewerToken` must differ from `admin.token`")
  }

  private var cors: [SettingsFault] {
    guard settings.corsOrigins.contains(.any), settings.corsOrigins.count > 1 else { return [] }
    return fault("cors.origins", "`*` in `cors.origins` must be the only origin")
  }

  /// Rejects a console folder, which is public, that contains the data folder.
  private var folders: [SettingsFault] {
    guard let shown = settings.publicFolder, FolderPath.isInside(settings.dataFolder, shown) else {
      return []
    }
    return fault(
      "public", "`public` would serve the data folder, which is \(settings.dataFolder)")
  }

  /// A fault if `name` is set and the other setting of the pair is not.
  private func needs(
    _ name: String, _ value: String?, _ other: String, _ otherValue: String?
  ) -> [SettingsFault] {
    guard value != nil, otherValue == nil, places[other] == nil else { return [] }
    return fault(name, "`\(name)` needs `\(other)`")
  }

  /// A fault if a choice needs another setting. One that was written but refused has its own fault
  /// already.
  private func demand(
    _ name: String, _ choice: String, _ other: String, _ otherValue: Any?
  ) -> [SettingsFault] {
    guard otherValue == nil, places[other] == nil else { return [] }
    return fault(name, "`\(name): \(choice)` needs `\(other)`")
  }

  func fault(_ name: String, _ message: String) -> [SettingsFault] {
    places[name].map { [SettingsFault($0, message)] } ?? []
  }
}
