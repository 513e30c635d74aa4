import Model
import Testing

@testable import Composition

struct SeveralUpstreamsSettingsTests {
  private static let two = """
    upstreams:
      films:
        url: http://films.example/graphql
        headers: {X-Client: larder}
        forward: [authorization]
        types: {User: {shared: true}, Tag: {as: FilmTag}}
      shop:
        url: http://shop.example/graphql
        dialect: hasura
        secret: sesame
        timeout: 2s
        concurrency: 3
        responseDepth: 40
    links:
      Film.offers: {type: Offer, field: filmId}
    """

  @Test("Each upstream has its own value of every setting")
  func readsEachUpstream() throws {
    let settings = try SettingsFixture(yaml: Self.two).load(requiring: ["upstream.url"]).settings
    #expect(settings.allUpstreams.map(\.name) == ["films", "shop"])
    let films = try #require(settings.upstreams["films"])
    let shop = try #require(settings.upstreams["shop"])
    #expect(films.url?.text == "http://films.example/graphql")
    #expect(films.headers == ["x-client": Secret("larder")])
    #expect(films.forward == ["authorization"])
    #expect(films.timeout == .seconds(10))
    #expect(films.types["User"]?.isShared == true)
    #expect(films.types["Tag"]?.storedName == "FilmTag")
    #expect(shop.dialect == .hasura)
    #expect(shop.secret == Secret("sesame"))
    #expect(shop.timeout == .seconds(2))
    #expect(shop.concurrencyMax == 3)
    #expect(shop.responseDepthMax == 40)
    #expect(settings.links["Film.offers"]?.type == "Offer")
    #expect(settings.links["Film.offers"]?.field == "filmId")
  }

  @Test("A single upstream has the section `upstream` and the name that it always had")
  func readsOneUpstream() throws {
    let settings = try SettingsFixture(yaml: "upstream: {url: 'http://a/'}").load().settings
    #expect(settings.allUpstreams.map(\.name) == [.sole])
    #expect(settings.allUpstreams.map(\.section) == ["upstream"])
    #expect(UpstreamName.sole == "default")
  }

  @Test("All upstreams are one variable, and each setting is a flag")
  func readsVariableAndFlag() throws {
    let settings = try SettingsFixture(
      yaml: Self.two,
      environment: [
        "LARDER_UPSTREAMS": "{shop: {timeout: 3s, types: {User: {shared: true}}}}",
        "LARDER_LINKS": "{Film.offers: {field: film}}",
      ],
      flags: [.init("upstreams.films.url", value: "http://other.example/")]
    ).load().settings
    #expect(settings.upstreams["shop"]?.timeout == .seconds(3))
    #expect(settings.upstreams["shop"]?.concurrencyMax == 3)
    #expect(settings.upstreams["shop"]?.types["User"]?.isShared == true)
    #expect(settings.upstreams["films"]?.url?.text == "http://other.example/")
    #expect(settings.links["Film.offers"]?.field == "film")
  }

  @Test("Faults of all upstreams are reported at once")
  func reportsAllFaults() {
    let yaml = """
      upstreams:
        films: {url: nowhere, timeout: 1ms}
        shop: {url: 'http://s/', secret: a, tmeout: 1s}
        Big: {url: 'http://b/'}
        default: {url: 'http://d/'}
        crm: {forward: [x-hasura-role], headers: {x-hasura-role: a}}
      links: {Film: {type: Offer, field: film}, Film.tags: {type: Tag}}
      """
    let faults = SettingsFixture(yaml: yaml).faults(requiring: ["upstream.url"])
    let places = faults.map { $0.split(separator: " ")[0] }
    #expect(
      places == [
        "larder.yaml:2:16:", "larder.yaml:2:34:", "larder.yaml:3:36:", "larder.yaml:3:39:",
        "larder.yaml:4:3:", "larder.yaml:5:3:", "larder.yaml:6:18:", "larder.yaml:7:9:",
        "larder.yaml:7:61:", "larder.yaml:",
      ], "\(faults.joined(separator: "\n"))")
    #expect(
      faults.contains {
        $0.contains(
          "unknown setting `upstreams.shop.tmeout`; did you mean `upstreams.shop.timeout`?")
      })
    #expect(faults.last?.contains("`upstreams.crm.url` is not set") == true)
    #expect(faults.last?.contains("LARDER_UPSTREAMS") == true)
  }

  @Test("An upstream without settings exists, and settings without effect are noted")
  func keepsEmptyUpstreams() throws {
    let fixture = SettingsFixture(
      yaml: "schema: ./a.graphql\nupstreams: {shop: {timeout: 3s}, films: {}, crm: }")
    let loaded = try fixture.load()
    #expect(loaded.settings.allUpstreams.map(\.name) == ["crm", "films", "shop"])
    let notes = loaded.notes.map(\.description)
    #expect(notes.first?.hasPrefix("larder.yaml:1:9: `schema` has no effect") == true, "\(notes)")
    for name in ["shop", "films", "crm"] {
      #expect(notes.contains { $0.contains("`upstreams.\(name)` has no `url`") }, "\(notes)")
    }
    #expect(
      fixture.faults(requiring: ["upstream.url"]).count == 3, "each is missing where it is required"
    )
    let other = try SettingsFixture(yaml: "schemas: ./a").load().notes.map(\.description)
    #expect(other.first?.contains("`schemas` has no effect without `upstreams`") == true)
  }

  @Test("`upstream` and `upstreams` together are a fault")
  func refusesBoth() {
    let faults = SettingsFixture(
      yaml: "upstream: {timeout: 1s}\nupstreams: {films: {url: 'http://f/'}}"
    ).faults()
    #expect(faults.count == 1)
    #expect(faults[0].contains("`upstream` and `upstreams` cannot both be set"))
  }

  @Test("Documents that are not registered are refused, because they name no upstream")
  func refusesUnregistered() {
    let faults = SettingsFixture(yaml: Self.two + "\ngraphql: {unregistered: allow}").faults()
    #expect(faults.count == 1)
    #expect(faults.first?.contains("`graphql.unregistered` must be `refuse`") == true)
    let one = "upstreams: {films: {url: 'http://f/'}}\ngraphql: {unregistered: allow}"
    #expect(SettingsFixture(yaml: one).faults() == [])
  }

  @Test("An upstream with a credential guards sign-up and devices as a single one does")
  func guardsByDefault() throws {
    let settings = try SettingsFixture(yaml: Self.two).load().settings
    #expect(settings.accounts.signUp == .admin)
    #expect(settings.devices.register == .user)
  }

  @Test("The dump shows every upstream with its origin and masks its secrets")
  func dumps() throws {
    let dump = SettingsDump.yaml(try SettingsFixture(yaml: Self.two).load())
    #expect(dump.contains("timeout: 2s  # larder.yaml:11:14"))
    #expect(!dump.contains("sesame"))
    #expect(dump.contains("shared: true"))
    let faults = SettingsFixture(yaml: dump.replacing("********", with: "a")).faults()
    #expect(faults == [], "\(dump)")
  }
}
