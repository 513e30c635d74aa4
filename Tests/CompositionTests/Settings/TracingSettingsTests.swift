import HTTPClient
import Testing

@testable import Composition

struct TracingSettingsTests {
  private static func settings(_ yaml: String) throws -> TracingSettings {
    try SettingsFixture(yaml: yaml).load().settings.tracing
  }

  @Test("Tracing is off without an endpoint, and records one request in a hundred with one")
  func hasDefaults() throws {
    let settings = try Self.settings("")
    #expect(settings.endpoint == nil)
    #expect(settings.sample == 0.01)
    #expect(settings.headers.isEmpty)
  }

  @Test(
    "A share is a number from 0 to 1",
    arguments: [
      ("0", 0), ("1", 1), ("0.01", 0.01), ("1.0", 1), ("0.000001", 0.000_001), (".5", 0.5),
    ])
  func readsShares(text: String, share: Double) throws {
    #expect(try Self.settings("tracing: {sample: \"\(text)\"}").sample == share)
  }

  @Test(
    "Anything else is no share",
    arguments: ["-0.1", "1.1", "2", "1%", "nan", "inf", "1e-3", "0x1p-1", "a", "0,5", "1.2.3"])
  func refusesOthers(text: String) {
    let faults = SettingsFixture(yaml: "tracing: {sample: \"\(text)\"}").faults()
    #expect(faults.count == 1)
    #expect(faults.first?.contains("must be a number from 0 to 1") == true, "\(faults)")
  }

  @Test(
    "A share is shown as it is written",
    arguments: [(0.0, "0"), (1, "1"), (0.01, "0.01"), (0.000_001, "0.000001"), (0.25, "0.25")])
  func showsShares(share: Double, text: String) {
    #expect(TextForm<Double>.share.print(share) == text)
  }

  @Test(
    "An endpoint without a path gets that of the protocol",
    arguments: [
      ("http://collector:4318", "/v1/traces"), ("http://collector:4318/", "/v1/traces"),
      ("https://collector/otlp/v1/traces", "/otlp/v1/traces"),
      ("http+unix://%2Frun%2Fotlp.sock", "/v1/traces"),
    ])
  func addsThePath(endpoint: String, target: String) throws {
    let url = try #require(
      try Self.settings("tracing: {endpoint: \"\(endpoint)\"}").endpoint)
    #expect(TracingAssembly.url(url.http).target == target)
  }

  @Test("Header values are secret")
  func masksHeaders() throws {
    let loaded = try SettingsFixture(
      yaml: "tracing: {endpoint: http://c, headers: {X-Api-Key: hidden-key}}"
    ).load()
    #expect(loaded.settings.tracing.headers.keys.sorted() == ["x-api-key"])
    #expect(!SettingsDump.yaml(loaded).contains("hidden-key"))
  }
}
