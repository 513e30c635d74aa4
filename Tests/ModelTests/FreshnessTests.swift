import Model
import Testing

struct FreshnessTests {
  static let policy = CachePolicy(
    maxAge: .seconds(60), staleWhileRevalidate: .seconds(600), staleIfError: .seconds(3600))

  @Test(
    "An age falls into its window",
    arguments: [
      (0, Freshness.fresh(ttl: .seconds(60))),
      (59, .fresh(ttl: .seconds(1))),
      (60, .staleWhileRevalidate(staleness: .zero)),
      (659, .staleWhileRevalidate(staleness: .seconds(599))),
      (660, .staleIfError(staleness: .seconds(600))),
      (3659, .staleIfError(staleness: .seconds(3599))),
      (3660, .expired),
    ])
  func ageFallsIntoWindow(seconds: Int, expected: Freshness) {
    #expect(Freshness(age: .seconds(seconds), policy: Self.policy, isDue: false) == expected)
  }

  @Test("A due result is served only when upstream fails")
  func dueResultIsStaleIfError() {
    let young = Freshness(age: .seconds(1), policy: Self.policy, isDue: true)
    #expect(young == .staleIfError(staleness: .zero))
  }

  @Test("Without any window nothing is served")
  func expiresWithoutWindows() {
    #expect(Freshness(age: .zero, policy: CachePolicy(), isDue: false) == .expired)
  }

  @Test("A result received in the future is stale, whatever its policy", arguments: [-1, -86_400])
  func nothingOfTheFutureIsFresh(seconds: Int) {
    #expect(
      Freshness(age: .seconds(seconds), policy: Self.policy, isDue: false)
        == .staleIfError(staleness: .zero))
    #expect(Freshness(age: .seconds(seconds), policy: CachePolicy(), isDue: false) == .expired)
  }
}
