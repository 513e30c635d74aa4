import Gateway
import Model
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

  @Test(
    "Lists in variables and flags can have brackets, as in the file",
    arguments: [
      ("[:1,:2]", [":1", ":2"]), ("[ :1 , '[::1]:2' ]", [":1", "[::1]:2"]),
      ("[\"127.0.0.1:1\"]", ["127.0.0.1:1"]), ("[::1]:2", ["[::1]:2"]),
      ("[::1]:2,[::1]:3", ["[::1]:2", "[::1]:3"]),
    ])
  func readsBracketedLists(text: String, addresses: [String]) throws {
    for fixture in [
      SettingsFixture(environment: ["LARDER_LISTEN": text]),
      SettingsFixture(flags: [.init("listen", spelling: "--set listen", value: text)]),
    ] {
      #expect(try fixture.load().settings.listen.map(\.description) == addresses)
    }
    let faults = SettingsFixture(environment: ["LARDER_LISTEN": "[:1, nowhere]"]).faults()
    #expect(faults.count == 1 && faults[0].contains("\"nowhere\""), "\(faults)")
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

  @Test("A list of sections, or a section of tables, is YAML in a variable and in a flag")
  func readsStructuredValuesAsYAML() throws {
    let tables = "{item: {type: Item, columns: {item_id: id}}}"
    let standing = "[{operation: FilmChanged, variables: {studio: s1}}]"
    let polls = "[{operation: Films, every: 30s}, {operation: Items, every: 1m}]"
    let rules = "[{on: Message insert, to: ids, text: '{a}, {b}'}]"
    let hook = "{erp: {format: hasura, secret: 0123456789abcdef, tables: \(tables)}}"
    var fixture = SettingsFixture(
      yaml: "upstream: {standing: [{operation: Other}], poll: [{operation: Other, every: 1s}]}",
      environment: [
        "LARDER_UPSTREAM_STANDING": standing, "LARDER_UPSTREAM_POLL": polls,
        "LARDER_PUSH_RULES": rules, "LARDER_HOOKS_IN": hook,
      ])
    func check(_ settings: Settings) {
      #expect(settings.upstream.standing.map(\.rule.operation) == ["FilmChanged"])
      #expect(settings.upstream.standing.first?.rule.variables == [.init("studio", "s1")])
      #expect(settings.upstream.polls.map(\.rule.operation) == ["Films", "Items"])
      #expect(settings.push.rules.map(\.rule.text.source) == ["{a}, {b}"])
      #expect(settings.hooks["erp"]?.tables["item"]?.columns == ["item_id": ["id"]])
    }
    check(try fixture.load().settings)
    fixture.environment = [:]
    fixture.flags = [
      .init("upstream.standing", value: standing), .init("upstream.poll", value: polls),
      .init("push.rules", value: rules), .init("hooks.in.erp.format", value: "hasura"),
      .init("hooks.in.erp.secret", value: "0123456789abcdef"),
      .init("hooks.in.erp.tables", value: tables),
    ]
    check(try fixture.load().settings)
    fixture.flags = [.init("upstreams.shop.standing", value: standing)]
    fixture.yaml = ""
    let several = try fixture.load().settings.upstreams
    #expect(several["shop"]?.standing.map(\.rule.operation) == ["FilmChanged"])
  }

  @Test(
    "A variable of a list of sections says where it is wrong",
    arguments: [
      ("all", "`upstream.standing` must be a list, not \"all\""),
      (
        "[{operation: A}",
        "`upstream.standing` must be a list, written as in the settings file; line"
      ),
      ("[{operation: 7}]", "`upstream.standing` must be a GraphQL name"),
      ("{operation: A}", "`upstream.standing` must be a list, not a section"),
    ])
  func reportsMalformedLists(text: String, expected: String) {
    let faults = SettingsFixture(environment: ["LARDER_UPSTREAM_STANDING": text]).faults()
    #expect(faults.count == 1, "\(faults)")
    #expect(faults.first?.hasPrefix("LARDER_UPSTREAM_STANDING: \(expected)") == true, "\(faults)")
  }

  @Test("A variable of an open section must be a YAML section")
  func refusesMalformedOpenSection() {
    let fixture = SettingsFixture(environment: [
      "LARDER_TYPES": "{Film", "LARDER_UPSTREAM_HEADERS": "x-a",
    ])
    let faults = fixture.faults()
    let beginning =
      "LARDER_TYPES: `types` must be a section such as {name: value}; line "
    #expect(faults.count == 2)
    #expect(faults.first?.hasPrefix(beginning) == true, "\(faults)")
    #expect(faults.first?.contains(" is not YAML: ") == true, "\(faults)")
    #expect(
      faults.last
        == "LARDER_UPSTREAM_HEADERS: `upstream.headers` must be a section such as {name: value}")
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
