import HTTPClient

/// What must hold between settings that are each right by themselves. A fault stands at the
/// setting that asks for something; defaults ask for nothing.
struct SettingsChecks {
  let settings: Settings
  let places: [String: SettingPlace]

  func faults() -> [SettingsFault] {
    upstream + tls + vendors + limits + metrics + cors + folders
  }

  /// What holds though its writer may not expect it.
  func notes() -> [SettingsNote] {
    let upstream = settings.upstream
    guard settings.accounts.provider == .local, upstream.hasOwnCredential,
      upstream.forward.contains("authorization"), places["upstream.forwardOwnTokens"] == nil,
      let place = places["upstream.forward"]
    else { return [] }
    return [
      SettingsNote(
        place: place,
        message: "tokens that this service issues are not passed on, since upstream gets the"
          + " service's own credential: signed-in users all see what that one may see; set"
          + " `upstream.forwardOwnTokens: true` where upstream verifies these tokens, false to keep"
          + " it so")
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

  /// Only the `hasura` dialect keeps a caller's session variables from going upstream beside the
  /// service's own: with any other, callers would choose the role that the secret acts as.
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
        "`tls.certificates` needs `tls.certificate`, which is for clients that ask for no name")
    }
    if tls.certificateFile == nil, tls.strictTransportAge != nil {
      faults += fault(
        "tls.hsts", "`tls.hsts` needs `tls.certificate`: behind a proxy, set HSTS in the proxy")
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
      faults += keptElsewhere
    }
    if settings.push.sender == .onesignal {
      faults += demand("push.sender", "onesignal", "push.appId", settings.push.appID)
      faults += demand("push.sender", "onesignal", "push.apiKey", settings.push.apiKey)
    }
    return faults
  }

  /// What a service that others write to as well cannot keep.
  private var keptElsewhere: [SettingsFault] {
    var faults: [SettingsFault] = []
    for (name, bucket) in settings.files.buckets.sorted(by: { $0.key < $1.key }) {
      for (quota, bytes) in [("quota", bucket.quotaBytes), ("userQuota", bucket.userQuotaBytes)]
      where bytes != nil {
        faults += fault(
          "files.buckets.\(name).\(quota)",
          "`files.buckets.\(name).\(quota)` cannot be kept with `files.store: s3`, where nobody"
            + " counts")
      }
    }
    if let target = settings.files.endpoint?.http.target, target != "/" {
      faults += fault("files.endpoint", "`files.endpoint` has no path, and this one has \(target)")
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
        "`\(name)` (\(ByteSize.print(bytes))) does not fit into `limits.head`"
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
    return fault("cors.origins", "`*` in `cors.origins` stands alone")
  }

  /// The console's folder is served to anybody.
  private var folders: [SettingsFault] {
    guard let shown = settings.publicFolder, FolderPath.isInside(settings.dataFolder, shown) else {
      return []
    }
    return fault(
      "public", "`public` would serve the data folder, which is \(settings.dataFolder)")
  }

  /// At most one of `faults` a pair: the one whose own value is there.
  private func needs(
    _ name: String, _ value: String?, _ other: String, _ otherValue: String?
  ) -> [SettingsFault] {
    guard value != nil, otherValue == nil, places[other] == nil else { return [] }
    return fault(name, "`\(name)` needs `\(other)` beside it")
  }

  /// A setting that was written but refused has its own fault already.
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
