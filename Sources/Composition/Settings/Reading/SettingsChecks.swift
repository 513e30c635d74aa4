import HTTPClient

/// Checks between settings that are each valid by themselves. A fault is placed at the setting that
/// requires another one; defaults require nothing.
struct SettingsChecks {
  let settings: Settings
  let places: [String: SettingPlace]

  func faults() -> [SettingsFault] {
    upstream + tls + vendors + limits + metrics + cors + folders
  }

  /// Effects of valid settings that the operator may not expect.
  func notes() -> [SettingsNote] {
    let upstream = settings.upstream
    guard settings.accounts.provider == .local, upstream.hasOwnCredential,
      upstream.forward.contains("authorization"), places["upstream.forwardOwnTokens"] == nil,
      let place = places["upstream.forward"]
    else { return [] }
    return [
      SettingsNote(
        place: place,
        message: "tokens issued by this service are not forwarded, because upstream receives the"
          + " service's own credential: all signed-in users see the data that it gives access to;"
          + " set `upstream.forwardOwnTokens: true` if upstream verifies these tokens, or false to"
          + " keep this behaviour")
    ]
  }

  private var upstream: [SettingsFault] {
    guard settings.upstream.secret != nil, settings.upstream.dialect == .plain else {
      return sessionVariables
    }
    return sessionVariables
      + fault(
        "upstream.secret", "`upstream.secret` needs `upstream.dialect: hasura` or `appsync`")
  }

  /// Rejects forwarded session variables together with the service's own. Only the `hasura` dialect
  /// keeps a caller's session variables from being sent with the service's secret; with any other,
  /// callers would choose the role that the secret acts as.
  private var sessionVariables: [SettingsFault] {
    let prefix = "x-hasura-"
    guard settings.upstream.dialect != .hasura,
      let own = settings.upstream.headers.keys.filter({ $0.hasPrefix(prefix) }).min(),
      let forwarded = settings.upstream.forward.filter({ $0.hasPrefix(prefix) }).min()
    else { return [] }
    return fault(
      "upstream.forward",
      "`upstream.forward` has `\(forwarded)` and `upstream.headers` has `\(own)`: callers would"
        + " choose the role or user that the service's secret acts as; set"
        + " `upstream.dialect: hasura`")
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
    if settings.accounts.provider == .auth0 {
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
    if settings.files.store == .s3 {
      faults += demand("files.store", "s3", "files.endpoint", settings.files.endpoint)
      faults += demand("files.store", "s3", "files.accessKey", settings.files.accessKey)
      faults += demand("files.store", "s3", "files.secretKey", settings.files.secretKey)
      faults += s3Store
    }
    if settings.push.sender == .onesignal {
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

  private func fault(_ name: String, _ message: String) -> [SettingsFault] {
    places[name].map { [SettingsFault($0, message)] } ?? []
  }
}
