import Testing

@testable import Composition

struct EnvironmentNamesTests {
  @Test(
    "Each setting has the expected variable",
    arguments: [
      ("upstream.url", "LARDER_UPSTREAM_URL"), ("cache.maxAge", "LARDER_CACHE_MAX_AGE"),
      ("listen", "LARDER_LISTEN"), ("publicUrl", "LARDER_PUBLIC_URL"),
      ("limits.connectionsPerAddress", "LARDER_LIMITS_CONNECTIONS_PER_ADDRESS"),
    ])
  func namesTheVariableOfASetting(setting: String, variable: String) {
    #expect(EnvironmentNames.variable(for: setting.split(separator: ".")) == variable)
    #expect(EnvironmentNames.paths[variable] == setting.split(separator: ".").map(String.init))
  }

  @Test("Every setting has a different variable")
  func variablesDiffer() {
    let targets = Set(SettingTable.keys.map { $0.openSection ?? $0.components })
    #expect(EnvironmentNames.paths.count == targets.count)
    #expect(EnvironmentNames.paths.keys.allSatisfy { !EnvironmentNames.isForeign($0) })
  }

  @Test("Lists in variables are split at commas")
  func splitsListsAtCommas() throws {
    let settings = try SettingsFixture(environment: [
      "LARDER_LISTEN": "127.0.0.1:1, [::1]:2,unix:/s", "LARDER_UPSTREAM_FORWARD": "Authorization",
    ]).load().settings
    #expect(
      settings.listen == [
        .tcp(host: "127.0.0.1", port: 1), .tcp(host: "::1", port: 2), .unix(path: "/s"),
      ])
    #expect(settings.upstream.forward == ["authorization"])
  }

  @Test("Open sections in variables are read as YAML")
  func readsOpenSectionsAsYAML() throws {
    let settings = try SettingsFixture(
      yaml: "upstream: {headers: {x-a: file, x-b: file}}",
      environment: [
        "LARDER_UPSTREAM_HEADERS": "{X-A: environment}", "LARDER_TYPES": "{Film: {key: [slug]}}",
      ]
    ).load().settings
    #expect(settings.upstream.headers == ["x-a": Secret("environment"), "x-b": Secret("file")])
    #expect(settings.types["Film"]?.key == ["slug"])
  }

  @Test("A variable of an open section must be a YAML section")
  func refusesMalformedOpenSection() {
    let fixture = SettingsFixture(environment: [
      "LARDER_TYPES": "{Film", "LARDER_UPSTREAM_HEADERS": "x-a",
    ])
    #expect(
      fixture.faults() == [
        "LARDER_TYPES: `types` must be a section such as {name: value}",
        "LARDER_UPSTREAM_HEADERS: `upstream.headers` must be a section such as {name: value}",
      ])
  }

  @Test("An empty variable counts as not set")
  func ignoresEmptyVariables() throws {
    let loaded = try SettingsFixture(
      yaml: "cache: {maxAge: 5s}",
      environment: ["LARDER_CACHE_MAX_AGE": "", "LARDER_ADMIN_TOKEN": "", "LARDER_TYPES": ""]
    ).load()
    #expect(loaded.settings.cache.maxAge == .seconds(5))
    #expect(loaded.settings.adminToken == nil)
  }

  @Test(
    "Variables that are not settings are ignored",
    arguments: [
      "LARDER_KEY", "LARDER_TEST_SLOW", "LARDER_PORT", "LARDER_SERVICE_HOST", "LARDER_SERVICE_PORT",
      "LARDER_SERVICE_PORT_HTTP", "LARDER_PORT_8080_TCP", "LARDER_PORT_8080_TCP_ADDR", "PATH",
      "larder_colour", "XLARDER_COLOUR",
    ])
  func ignoresForeignVariables(variable: String) {
    #expect(SettingsFixture(environment: [variable: "tcp://10.0.0.1:8080"]).faults() == [])
  }

  @Test(
    "Unknown variables are refused with a suggestion",
    arguments: [
      ("LARDER_CACHE_MAXAGE", "; did you mean LARDER_CACHE_MAX_AGE?"),
      ("LARDER_PORTS", ""), ("LARDER_PORT_8080_TCP_NAME", ""), ("LARDER_", ""),
      ("LARDER_KEYS", ""),
    ])
  func refusesUnknownVariables(variable: String, hint: String) {
    #expect(
      SettingsFixture(environment: [variable: "1"]).faults()
        == ["\(variable): unknown variable\(hint)"])
  }
}
