import LosslessJSON
import TestSupport
import Testing

extension Ways {
  /// Settings for proxies and rates, which hold for every way, a cache hit included.
  struct CallerLimitTests {
    private static let settings = """
      limits: {rate: 3, rateWindow: 1h}
      proxies: {trust: [127.0.0.1]}
      cors: {origins: [https://app.example]}
      """

    @Test("Cache hits and misses count alike against the rate limit")
    func hitsAndMissesCountAlike() async throws {
      let larder = try await RunningLarder.start(
        settings: Self.settings + "\ncache: {maxAge: 1h}")
      let from = ("X-Forwarded-For", "192.0.2.1")
      var answers: [RawResponse] = []
      for _ in 0..<4 { answers.append(try await larder.get("/api/films/f1", from)) }
      #expect(answers.map(\.status) == [200, 200, 200, 429])
      #expect(answers[2].cacheStatus?.hasPrefix("hit") == true)
      #expect(answers[2]["ratelimit"]?.hasPrefix("\"default\";r=0;t=") == true)
      #expect(answers[3]["retry-after"] != nil)
      // Another client of the same proxy, and a monitor, are not limited.
      let other = try await larder.get("/api/films/f1", ("X-Forwarded-For", "192.0.2.2"))
      #expect(other.status == 200)
      for _ in 0..<5 { #expect(try await larder.get("/healthz", from).status == 200) }
      await larder.stop()
    }

    @Test("A user's device has its own rate window; invented tokens share their address's")
    func onlyKnownDevicesHaveAWindow() async throws {
      let larder = try await RunningLarder.start(
        settings: Self.settings.replacing("rate: 3", with: "rate: 4")
          + "\naccounts: {passwordCost: 10, signUp: open}\ndevices: {register: open}")
      let from = ("X-Forwarded-For", "192.0.2.1")
      let user = try AccountTests.Session(
        try await larder.post("/v1/auth/sign-up", AccountTests.credentials("ada"), from))
      let made = try await larder.post(
        "/v1/devices", #"{"platform":"ios"}"#, from, user.bearer)
      #expect(made.status == 201)
      let token = try #require(try JSONValue(parsing: made.body)["deviceToken"]?.string)
      let known = ("Device-Token", token)
      var statuses: [Int] = []
      for _ in 0..<6 { statuses.append(try await larder.get("/v1/devices/me", from, known).status) }
      #expect(statuses == [200, 200, 200, 200, 200, 429])
      // Signing up, registering and the device's first request took three of the address's four requests.
      statuses = []
      for first in "ABCD".filter({ $0 != token.first }).prefix(3) {
        let invented = ("Device-Token", "\(first)" + token.dropFirst())
        statuses.append(try await larder.get("/v1/devices/me", from, invented).status)
      }
      #expect(statuses == [401, 429, 429])
      await larder.stop()
    }

    @Test("Devices that anyone can register share their address's rate window")
    func openDevicesShareAWindow() async throws {
      let larder = try await RunningLarder.start(
        settings: Self.settings.replacing("rate: 3", with: "rate: 6")
          + "\ndevices: {register: open}")
      let from = ("X-Forwarded-For", "192.0.2.1")
      var tokens: [String] = []
      for _ in 0..<2 {
        let made = try await larder.post("/v1/devices", #"{"platform":"ios"}"#, from)
        tokens.append(try #require(try JSONValue(parsing: made.body)["deviceToken"]?.string))
      }
      var statuses: [Int] = []
      for index in 0..<6 {
        let known = ("Device-Token", tokens[index % 2])
        statuses.append(try await larder.get("/v1/devices/me", from, known).status)
      }
      #expect(statuses == [200, 200, 200, 200, 429, 429])
      await larder.stop()
    }

    @Test("Pages of an allowed origin can read a 429 response")
    func crossOriginPagesCanReadARefusal() async throws {
      let larder = try await RunningLarder.start(settings: Self.settings)
      var answer = try await larder.get("/v1/operations", ("Origin", "https://app.example"))
      for _ in 0..<3 {
        answer = try await larder.get("/v1/operations", ("Origin", "https://app.example"))
      }
      #expect(answer.status == 429)
      #expect(answer["access-control-allow-origin"] == "https://app.example")
      #expect(answer["access-control-expose-headers"]?.contains("RateLimit") == true)
      await larder.stop()
    }
  }
}
