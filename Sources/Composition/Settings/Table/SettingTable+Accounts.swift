extension SettingTable {
  static let accounts = SettingSection(
    "accounts", "User accounts and trusted token issuers.", provider + local + issuers)

  private static let provider: [SettingKey] = [
    .switch(
      "accounts", \.accounts.isOn,
      doc: "Whether users can have accounts and sign in here. Tokens of `accounts.issuers` are "
        + "verified in any case. Without either there are no users: `push` is off too, and "
        + "devices can only be registered by anyone or by the operator."),
    SettingKey(
      "accounts.provider", \.accounts.provider, .one(.choice), example: "auth0",
      doc: "Where accounts are kept: in this service (`local`) or at Auth0 (`auth0`)."),
    SettingKey(
      "accounts.issuer", \.accounts.issuer, .optional(.url("http", "https")),
      example: "https://example.eu.auth0.com/",
      doc: "Issuer (`iss`) of the users' tokens. `local`: defaults to `publicUrl`, then to "
        + "`larder`. `auth0`: the custom domain with its trailing slash; defaults to `domain`."),
    SettingKey(
      "accounts.audience", \.accounts.audience, .optional(.text("an audience")),
      example: "https://api.example.com",
      doc: "Audience (`aud`) that a token must carry. Required with `auth0`: the API identifier."),
    SettingKey(
      "accounts.clientId", \.accounts.clientID, .optional(.text("a client's id")),
      example: "aBcD1234", doc: "Client id of the application at the provider."),
    SettingKey(
      "accounts.clientSecret", \.accounts.clientSecret,
      .optional(.secret("a secret of one line")), example: Secret.mask,
      doc: "Client secret of that application."),
    SettingKey(
      "accounts.domain", \.accounts.domain, .optional(.hostName),
      example: "example.eu.auth0.com", doc: "The tenant's domain at the provider."),
    SettingKey(
      "accounts.connection", \.accounts.connection, .one(.text("a connection's name")),
      example: "Username-Password-Authentication",
      doc: "Name of the database connection at the provider."),
    SettingKey(
      "accounts.signUp", \.accounts.signUp, .one(.choice), example: "admin",
      doc: "Who may create an account: anyone (`open`), or the holder of the admin token "
        + "(`admin`). Users can read the data stored for signed-in users. Defaults to `admin` if "
        + "the service has its own credentials (`upstream.secret` or `upstream.headers`)."),
    SettingKey(
      "accounts.tries", \.accounts.triesPerMinute, .one(.wholeNumber(1...100_000)),
      example: "10",
      doc: "Maximum wrong passwords per minute for one account; 429 beyond it. Each of the last 16 "
        + "networks that the account signed in from has its own count, so strangers cannot lock "
        + "the owner out."),
    SettingKey(
      "accounts.rate", \.accounts.callsPerMinute, .one(.wholeNumber(1...100_000)),
      example: "60",
      doc: "Maximum password checks, refused refreshes and new accounts per minute from one "
        + "address (IPv6: from one /64, and eight times as many from one /48); 429 beyond it."),
  ]

  private static let local: [SettingKey] = [
    SettingKey(
      "accounts.accessLifetime", \.accounts.accessLifetime,
      .one(.duration(.seconds(5) ... .seconds(86_400))), example: "15m",
      doc: "Lifetime of a `local` access token, which cannot be revoked."),
    SettingKey(
      "accounts.refreshLifetime", \.accounts.refreshLifetime,
      .one(.duration(.seconds(60) ... .seconds(365 * 86_400))), example: "30d",
      doc: "How long an inactive `local` user stays signed in."),
    SettingKey(
      "accounts.refreshLeeway", \.accounts.refreshLeeway,
      .one(.duration(.zero ... .seconds(3_600))), example: "0s",
      doc: "Grace period in which a used `local` refresh token is accepted again, for clients that "
        + "lost the response, until one of the tokens issued for it is used. A stolen token is "
        + "accepted in this period too."),
    SettingKey(
      "accounts.passwordCost", \.accounts.passwordCost, .one(.wholeNumber(10...20)),
      example: "16",
      doc: "Cost of hashing a password with scrypt (log2 N): each step doubles time and memory; 15 "
        + "takes 32 MiB and a third of a second. After an increase, each password is rehashed when "
        + "its user next signs in."),
  ]

  private static let issuers: [SettingKey] = [
    SettingKey(
      "accounts.issuers.<issuer>.url", membersOf: \.accounts.issuers, named: .issuerName,
      fresh: AccountsSettings.Issuer(), \.url, .optional(.url("http", "https")),
      example: "https://login.example.com",
      doc: "Another trusted OpenID Connect issuer, exactly as its tokens name it. The ids of its "
        + "users are `<url>#<subject>`."),
    SettingKey(
      "accounts.issuers.<issuer>.audience", membersOf: \.accounts.issuers, named: .issuerName,
      fresh: AccountsSettings.Issuer(), \.audience, .optional(.text("an audience")),
      example: "larder", doc: "Audience (`aud`) that its tokens must carry."),
    SettingKey(
      "accounts.issuers.<issuer>.keys", membersOf: \.accounts.issuers, named: .issuerName,
      fresh: AccountsSettings.Issuer(), \.keys, .optional(.url("http", "https")),
      example: "https://login.example.com/keys",
      doc: "URL of its key set (JWKS); taken from its metadata if unset."),
  ]
}

extension TextForm where Value == String {
  /// The operator's name for an issuer; it has no other meaning.
  fileprivate static var issuerName: Self { .text("a name for the issuer") }
}
