extension SettingTable {
  static let accounts = SettingSection(
    "accounts", "Who keeps the users.", provider + local + issuers)

  private static let provider: [SettingKey] = [
    SettingKey(
      "accounts.provider", \.accounts.provider, .one(.choice), example: "auth0",
      doc: "`local` keeps them here."),
    SettingKey(
      "accounts.issuer", \.accounts.issuer, .optional(.url("http", "https")),
      example: "https://example.eu.auth0.com/",
      doc: "What the users' tokens name as their issuer. `local`: `publicUrl` if unset, else "
        + "`larder`. `auth0`: the custom domain, with its last slash; `domain` if unset."),
    SettingKey(
      "accounts.audience", \.accounts.audience, .optional(.text("an audience")),
      example: "https://api.example.com",
      doc: "What a token must be meant for. `auth0` needs it: the identifier of the API."),
    SettingKey(
      "accounts.clientId", \.accounts.clientID, .optional(.text("a client's id")),
      example: "aBcD1234", doc: "The application at the provider."),
    SettingKey(
      "accounts.clientSecret", \.accounts.clientSecret,
      .optional(.secret("a secret of one line")), example: Secret.mask,
      doc: "That application's secret."),
    SettingKey(
      "accounts.domain", \.accounts.domain, .optional(.hostName),
      example: "example.eu.auth0.com", doc: "The provider's tenant."),
    SettingKey(
      "accounts.connection", \.accounts.connection, .one(.text("a connection's name")),
      example: "Username-Password-Authentication",
      doc: "The database of users at the provider."),
    SettingKey(
      "accounts.signUp", \.accounts.signUp, .one(.choice), example: "admin",
      doc: "Who may open an account: anybody, or the holder of the admin token. Users see what "
        + "is stored for signed-in users. The default is admin where the service has credentials "
        + "of its own (upstream.secret or upstream.headers)."),
    SettingKey(
      "accounts.tries", \.accounts.triesPerMinute, .one(.wholeNumber(1...100_000)),
      example: "10",
      doc: "Wrong passwords a minute for one account; then 429. Each of the last 16 networks that "
        + "the account signed in from has as many for itself, so that strangers cannot lock the "
        + "owner out."),
    SettingKey(
      "accounts.rate", \.accounts.callsPerMinute, .one(.wholeNumber(1...100_000)),
      example: "60",
      doc: "Checked passwords, refused refreshes and new accounts a minute from one address (of "
        + "IPv6 from one /64, and eight times as many from one /48); then 429."),
  ]

  private static let local: [SettingKey] = [
    SettingKey(
      "accounts.accessLifetime", \.accounts.accessLifetime,
      .one(.duration(.seconds(5) ... .seconds(86_400))), example: "15m",
      doc: "How long a `local` access token is good; it cannot be taken back."),
    SettingKey(
      "accounts.refreshLifetime", \.accounts.refreshLifetime,
      .one(.duration(.seconds(60) ... .seconds(365 * 86_400))), example: "30d",
      doc: "How long a `local` user who does not come stays signed in."),
    SettingKey(
      "accounts.refreshLeeway", \.accounts.refreshLeeway,
      .one(.duration(.zero ... .seconds(60))), example: "0s",
      doc: "How long a used `local` refresh token is taken once more, for clients that lose "
        + "answers, and either of the two that were then given for it. Within it a stolen one is "
        + "too."),
    SettingKey(
      "accounts.passwordCost", \.accounts.passwordCost, .one(.wholeNumber(10...20)),
      example: "16",
      doc: "How dear it is to try a password: each step doubles time and memory; 15 takes 32 MiB "
        + "and a third of a second. Raising it hashes passwords anew as their users sign in."),
  ]

  private static let issuers: [SettingKey] = [
    SettingKey(
      "accounts.issuers.<issuer>.url", membersOf: \.accounts.issuers, named: .issuerName,
      fresh: AccountsSettings.Issuer(), \.url, .optional(.url("http", "https")),
      example: "https://login.example.com",
      doc: "Another OpenID Connect issuer whose tokens are verified, exactly as they name it. Its "
        + "users are `<url>#<subject>`."),
    SettingKey(
      "accounts.issuers.<issuer>.audience", membersOf: \.accounts.issuers, named: .issuerName,
      fresh: AccountsSettings.Issuer(), \.audience, .optional(.text("an audience")),
      example: "larder", doc: "What its tokens must be meant for."),
    SettingKey(
      "accounts.issuers.<issuer>.keys", membersOf: \.accounts.issuers, named: .issuerName,
      fresh: AccountsSettings.Issuer(), \.keys, .optional(.url("http", "https")),
      example: "https://login.example.com/keys",
      doc: "Its key set; where its metadata says if unset."),
  ]
}

extension TextForm where Value == String {
  /// A name for whoever reads the file.
  fileprivate static var issuerName: Self { .text("a name for the issuer") }
}
