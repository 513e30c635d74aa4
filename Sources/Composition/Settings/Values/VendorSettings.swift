package import Gateway

/// The account provider, and the trusted token issuers.
package struct AccountsSettings: Sendable {
  package enum Provider: String, CaseIterable, Sendable {
    case local
    case auth0
  }

  package enum SignUp: String, CaseIterable, Sendable {
    case open
    case admin
  }

  /// Another trusted token issuer.
  package struct Issuer: Sendable {
    package var url: ServiceURL?
    package var audience: String?
    /// URL of the key set; nil = from the issuer's metadata.
    package var keys: ServiceURL?
  }

  package var isOn = true
  package var provider = Provider.local
  package var issuer: ServiceURL?
  package var audience: String?
  package var clientID: String?
  package var clientSecret: Secret?
  package var domain: String?
  package var connection = "Username-Password-Authentication"
  package var signUp = SignUp.open
  package var accessLifetime = Duration.seconds(900)
  package var refreshLifetime = Duration.seconds(30 * 86_400)
  package var refreshLeeway = Duration.seconds(300)
  /// The base-2 logarithm of scrypt's N.
  package var passwordCost = 15
  package var triesPerMinute = 10
  package var callsPerMinute = 60
  /// Issuers by the operator's name for them.
  package var issuers: [String: Issuer] = [:]
}

/// The file store, and the access rules of its buckets.
package struct FilesSettings: Sendable {
  package enum Store: String, CaseIterable, Sendable {
    case disk
    case s3
  }

  package enum Access: String, CaseIterable, Sendable {
    case publicRead = "public-read"
    case user
    case admin
  }

  package struct Bucket: Sendable {
    package var access = Access.admin
    /// Maximum size of the bucket; nil = limited only by the disk.
    package var quotaBytes: Int?
    /// Maximum size of one user's objects; nil = ``userQuotaDefault`` if users can write, else the
    /// bucket's.
    package var userQuotaBytes: Int?
  }

  /// A limit by default, because sign-up can be open to anyone.
  package static let userQuotaDefault = 1 << 30

  package var isOn = true
  package var store = Store.disk
  package var endpoint: ServiceURL?
  package var region: String?
  package var accessKey: String?
  package var secretKey: Secret?
  package var usesPathStyle = true
  /// Time after which an incomplete multipart upload is aborted.
  package var uploadExpiry: Duration = .seconds(7 * 86_400)
  /// By bucket name.
  package var buckets: [String: Bucket] = [:]
}

/// Further addresses of the S3 dialect, beside `/s3`, with its paths at the root.
package struct S3DialectSettings: Sendable {
  package var isOn = true
  package var listen: [ListenAddress] = []
  /// Host name that serves only the dialect; nil = none.
  package var host: String?
}

/// The sender of push notifications, and who can use it.
package struct PushSettings: Sendable {
  package enum Sender: String, CaseIterable, Sendable {
    case outbox
    case onesignal
  }

  package enum API: String, CaseIterable, Sendable {
    case current
    case legacy
  }

  package enum MaySend: String, CaseIterable, Sendable {
    case users
    case admin
  }

  package var isOn = true
  package var sender = Sender.outbox
  package var appID: String?
  package var apiKey: Secret?
  package var api = API.current
  package var send = MaySend.admin
  /// Notifications per minute of one user: enough for a fast typist, since each can reach thousands.
  package var sendsPerMinute = 60
  /// Base URL of OneSignal; nil = that of ``api``.
  package var url: ServiceURL?
  package var rules: [PushRuleSettings] = []
}

/// One of `push.rules`, with its place.
package struct PushRuleSettings: Sendable {
  package let rule: PushRule
  package let place: SettingPlace
}
