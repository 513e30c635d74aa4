import Gateway
import Model
import Testing

struct ReadDecisionTests {
  static let policy = CachePolicy(
    maxAge: .seconds(60), staleWhileRevalidate: .seconds(60), staleIfError: .seconds(600))

  struct Case: Sendable {
    let age: Int?
    var isDue = false
    var directives = ReadDirectives.none
    let expected: ReadDecision
  }

  static let cases: [Case] = [
    Case(age: nil, expected: .fetch(mayFallBack: false)),
    Case(age: nil, directives: ReadDirectives(onlyIfCached: true), expected: .refuse),
    Case(age: 0, expected: .serve),
    // Stamped by a clock that was ahead.
    Case(age: -1, expected: .fetch(mayFallBack: true)),
    Case(age: -3_600, expected: .fetch(mayFallBack: true)),
    Case(age: -366 * 86_400, expected: .fetch(mayFallBack: true)),
    Case(
      age: -1, directives: ReadDirectives(maxStale: .any), expected: .fetch(mayFallBack: true)),
    Case(age: -1, directives: ReadDirectives(onlyIfCached: true), expected: .refuse),
    Case(age: 59, expected: .serve),
    Case(
      age: 59, directives: ReadDirectives(maxAge: .seconds(30)), expected: .fetch(mayFallBack: true)
    ),
    Case(age: 30, directives: ReadDirectives(maxAge: .seconds(30)), expected: .serve),
    Case(age: 0, directives: ReadDirectives(noCache: true), expected: .fetch(mayFallBack: true)),
    Case(age: 0, isDue: true, expected: .fetch(mayFallBack: true)),
    Case(
      age: 0, isDue: true, directives: ReadDirectives(onlyIfCached: true), expected: .refuse),
    Case(age: 60, expected: .serveAndRefresh),
    Case(age: 60, isDue: true, expected: .fetch(mayFallBack: true)),
    Case(age: 60, directives: ReadDirectives(onlyIfCached: true), expected: .serve),
    Case(age: 120, expected: .fetch(mayFallBack: true)),
    Case(age: 120, directives: ReadDirectives(maxStale: .any), expected: .serve),
    Case(age: 120, directives: ReadDirectives(maxStale: .atMost(.seconds(60))), expected: .serve),
    Case(
      age: 121, directives: ReadDirectives(maxStale: .atMost(.seconds(60))),
      expected: .fetch(mayFallBack: true)),
    Case(
      age: 121, isDue: true, directives: ReadDirectives(maxStale: .any),
      expected: .fetch(mayFallBack: true)),
    Case(age: 659, expected: .fetch(mayFallBack: true)),
    Case(age: 660, expected: .fetch(mayFallBack: false)),
    Case(
      age: 660, directives: ReadDirectives(maxStale: .any), expected: .fetch(mayFallBack: false)),
    Case(age: 660, directives: ReadDirectives(onlyIfCached: true), expected: .refuse),
  ]

  @Test(
    "Age, policy and directives determine how a read is served",
    arguments: cases)
  func decides(_ test: Case) {
    let stored = test.age.map { ReadDecision.Stored(age: .seconds($0), isDue: test.isDue) }
    let decision = ReadDecision(stored: stored, policy: Self.policy, directives: test.directives)
    #expect(decision == test.expected)
  }
}

struct CacheOutcomeTests {
  @Test(
    "Cache-Status reports how a response was obtained",
    arguments: [
      (CacheOutcome.hit(ttl: .milliseconds(42_900)), "hit; ttl=42"),
      (.staleWhileRevalidate(staleness: .seconds(5)), "hit; ttl=-5; detail=refreshing"),
      (.staleIfError(staleness: .seconds(900)), "hit; ttl=-900; detail=stale-if-error"),
      (.staleIfError(staleness: .zero), "hit; ttl=0; detail=stale-if-error"),
      (.lookup, "hit; detail=lookup"),
      (.miss(stored: true), "fwd=uri-miss; stored"),
      (.collapsed, "fwd=uri-miss; collapsed"),
      (.request(stored: false), "fwd=request"),
    ])
  func reportsHowTheResponseWasObtained(outcome: CacheOutcome, parameters: String) {
    #expect(outcome.parameters == parameters)
    #expect(outcome.parameters.contains("hit") != outcome.parameters.contains("fwd"))
    #expect(outcome.isForwarded == outcome.parameters.hasPrefix("fwd"))
  }
}
