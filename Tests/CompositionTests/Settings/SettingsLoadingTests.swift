import HTTPClient
import Testing
import Upstream

@testable import Composition

struct SettingsLoadingTests {
  private static let everySection = """
    listen: 127.0.0.1:8080            # several allowed; unix:/path too
    publicUrl: https://api.example.com
    data: ./data
    operations: ./operations
    schema: ./schema.graphql
    local: ./local.graphql
    public: ./Public
    upstream: {url: "https://graphql.example.com/v1/graphql", websocket: "wss://graphql.example.com/v1", dialect: hasura, headers: {X-Client: larder}, forward: [authorization], secret: s3cret, timeout: 10s, concurrency: 64}
    cache: {maxAge: 0s, staleWhileRevalidate: 0s, staleIfError: 1d, memory: 64MiB}
    types: {Film: {key: [id], index: [year], search: [title, synopsis]}}
    admin: {token: 0123456789abcdef0123456789abcdef}
    tls: {certificate: ./tls/chain.pem, key: ./tls/key.pem}
    accounts: {provider: auth0, issuer: "https://example.eu.auth0.com/", audience: api, clientId: abc, clientSecret: def, domain: example.eu.auth0.com}
    files: {store: s3, endpoint: "http://127.0.0.1:9000", region: eu-central-1, accessKey: AKIA, secretKey: xyz, pathStyle: true, buckets: {pics: {access: public-read}}}
    push: {sender: onesignal, appId: app, apiKey: key, api: current, send: users, rules: []}
    queue: {debounce: 0s, parallel: 1, forceDeadline: 10s, probe: 5s, onLogout: drain}
    devices: {register: open, expiry: 180d}
    limits: {body: 2MiB}
    proxies: {trust: [10.0.0.0/8, "fd00::/8"]}
    cors: {origins: ["https://app.example.com"]}
    drain: {delay: 0s, deadline: 8s}
    log: {level: info, format: json}
    """

  @Test("Every section of a settings file is read")
  func readsEverySection() throws {
    let loaded = try SettingsFixture(yaml: Self.everySection).load()
    let settings = loaded.settings
    #expect(settings.listen == [.tcp(host: "127.0.0.1", port: 8080)])
    #expect(settings.publicURL?.text == "https://api.example.com")
    #expect(settings.dataFolder == "./data")
    #expect(settings.upstream.url?.http.target == "/v1/graphql")
    #expect(settings.upstream.websocketURL?.scheme == "wss")
    #expect(settings.upstream.dialect == .hasura)
    #expect(settings.upstream.headers == ["x-client": Secret("larder")])
    #expect(settings.upstream.forward == ["authorization"])
    #expect(settings.upstream.secret?.revealed == "s3cret")
    #expect(settings.cache.staleIfError == .seconds(86_400))
    #expect(settings.types["Film"]?.search == ["title", "synopsis"])
    #expect(settings.adminToken?.revealed.count == 32)
    #expect(settings.tls.keyFile == "./tls/key.pem")
    #expect(settings.accounts.provider == .auth0)
    #expect(settings.files.buckets["pics"]?.access == .publicRead)
    #expect(settings.files.store == .s3)
    #expect(settings.files.endpoint?.text == "http://127.0.0.1:9000")
    #expect(settings.files.secretKey?.revealed == "xyz")
    #expect(settings.push.send == .users)
    #expect(settings.devices.expiry == .seconds(180 * 86_400))
    #expect(settings.limits.bodyBytesMax == 2 << 20)
    #expect(settings.trustedProxies.map(\.description) == ["10.0.0.0/8", "fd00::/8"])
    #expect(settings.corsOrigins.map(\.description) == ["https://app.example.com"])
    #expect(settings.log.format == .json)
  }

  @Test(
    "The protocol of subscriptions reaches the upstream's configuration",
    arguments: [
      ("auto", .automatic), ("graphql-transport-ws", .transportWS), ("graphql-ws", .legacyWS),
      ("sse", .eventStream), ("off", .off),
    ] as [(String, SubscriptionChoice)])
  func readsSubscriptionProtocol(text: String, choice: SubscriptionChoice) throws {
    let yaml = "upstream: {url: 'http://a/g', subscriptions: \(text)}"
    let settings = try SettingsFixture(yaml: yaml).load().settings
    #expect(UpstreamConfiguration(settings.allUpstreams[0]).subscriptions == choice)
  }

  @Test("The address of the WebSocket reaches the upstream's configuration")
  func readsWebSocketURL() throws {
    let yaml = "upstream: {url: 'http://a/g', websocket: 'wss://b/live'}"
    let settings = try SettingsFixture(yaml: yaml).load().settings
    let url = UpstreamConfiguration(settings.allUpstreams[0]).webSocketURL
    #expect(url == (try HTTPURL("https://b/live")))
  }

  @Test(
    "Settings that are not written have their defaults",
    arguments: ["", "# nothing\n", "---\n", "upstream:\ncache: ~\nlisten:\n", "{}"])
  func usesDefaults(yaml: String) throws {
    let loaded = try SettingsFixture(yaml: yaml).load()
    #expect(loaded.settings.listen == [.tcp(host: "127.0.0.1", port: 8080)])
    #expect(loaded.settings.upstream.timeout == .seconds(10))
    #expect(loaded.settings.publicFolder == nil)
    #expect(loaded.places.isEmpty)
  }

  @Test("Flags override the environment, which overrides the file")
  func appliesPrecedence() throws {
    var fixture = SettingsFixture(
      yaml: "cache: {maxAge: 1s, staleWhileRevalidate: 1s, staleIfError: 1s}",
      environment: [
        "LARDER_CACHE_STALE_WHILE_REVALIDATE": "2s", "LARDER_CACHE_STALE_IF_ERROR": "2s",
      ])
    fixture.flags = [
      .init("cache.staleIfError", value: "3s"), .init("cache.staleIfError", value: "4s"),
    ]
    let loaded = try fixture.load()
    #expect(loaded.settings.cache.maxAge == .seconds(1))
    #expect(loaded.settings.cache.staleWhileRevalidate == .seconds(2))
    #expect(loaded.settings.cache.staleIfError == .seconds(4))
    #expect(loaded.places["cache.maxAge"]?.description == "larder.yaml:1:17")
    #expect(
      loaded.places["cache.staleWhileRevalidate"]?.description
        == "LARDER_CACHE_STALE_WHILE_REVALIDATE")
    #expect(loaded.places["cache.staleIfError"]?.description == "--cache.staleIfError")
  }

  @Test("Flags can set members of open sections")
  func readsMembersOfOpenSectionsFromFlags() throws {
    let settings = try SettingsFixture(flags: [
      .init("types.Film.key", value: "slug,year"), .init("upstream.headers.X-A", value: "a, b"),
      .init("files.buckets", value: "{pics: {access: user}}"),
    ]).load().settings
    #expect(settings.types["Film"]?.key == ["slug", "year"])
    #expect(settings.upstream.headers == ["x-a": Secret("a, b")])
    #expect(settings.files.buckets["pics"]?.access == .user)
  }

  @Test(
    "Relative paths start at the settings file's folder",
    arguments: [
      ("larder.yaml", "./state"), ("conf/larder.yaml", "conf/state"),
      ("/etc/larder/larder.yaml", "/etc/larder/state"), ("/larder.yaml", "//state"),
    ])
  func resolvesRelativePaths(file: String, folder: String) throws {
    var fixture = SettingsFixture(yaml: "data: ./state\nlocal: /srv/local.graphql", fileName: file)
    #expect(try fixture.load().settings.dataFolder == folder)
    #expect(try fixture.load().settings.localFile == "/srv/local.graphql")
    fixture.yaml = ""
    fixture.environment = ["LARDER_DATA": "state"]
    #expect(try fixture.load().settings.dataFolder == folder)
  }

  @Test("A single value counts as a list of one")
  func acceptsSingleValueAsList() throws {
    let settings = try SettingsFixture(
      yaml: "listen: unix:./larder.sock\nproxies: {trust: 10.1.2.3}", fileName: "/run/larder.yaml"
    ).load().settings
    #expect(settings.listen == [.unix(path: "/run/larder.sock")])
    #expect(settings.trustedProxies.map(\.description) == ["10.1.2.3"])
  }

  @Test("Windows line endings and a byte order mark are accepted")
  func readsWindowsLineEndsAndAByteOrderMark() throws {
    let fixture = SettingsFixture(yaml: "\u{FEFF}listen: :9000\r\nlog:\r\n  level: debug\r\n")
    #expect(try fixture.load().settings.listen == [.tcp(host: nil, port: 9000)])
    #expect(try fixture.load().places["log.level"]?.description == "larder.yaml:3:10")
  }

  @Test("Text that looks like another type stays text")
  func keepsTextThatLooksLikeAnotherType() throws {
    let settings = try SettingsFixture(
      yaml: "accounts: {audience: 0123, clientId: yes}\nfiles: {region: 1e3}"
    ).load().settings
    #expect(settings.accounts.audience == "0123")
    #expect(settings.accounts.clientID == "yes")
    #expect(settings.files.region == "1e3")
  }

  @Test("A missing required setting is reported")
  func reportsMissingRequiredSetting() throws {
    #expect(
      SettingsFixture().faults(requiring: ["upstream.url"]) == [
        "larder.yaml: `upstream.url` is not set; set it there or in LARDER_UPSTREAM_URL"
      ])
    do throws(SettingsFaults) {
      _ = try Settings.load(from: SettingsSources(), requiring: ["upstream.url"])
      Issue.record("the setting is missing")
    } catch {
      #expect(
        error.description
          == "larder.yaml: there is no such file, and `upstream.url` is not set; `larder init URL`"
          + " writes it for an API, or set LARDER_UPSTREAM_URL")
    }
    let fixture = SettingsFixture(environment: ["LARDER_UPSTREAM_URL": "http://127.0.0.1:4000/"])
    #expect(fixture.faults(requiring: ["upstream.url"]) == [])
  }
}
