import Gateway
import Testing

struct CacheOutcomeTests {
  @Test(arguments: [
    (CacheOutcome.hit(ttl: .milliseconds(42_900)), "hit; ttl=42"),
    (.staleWhileRevalidate(staleness: .seconds(5)), "hit; ttl=-5; detail=refreshing"),
    (.staleIfError(staleness: .seconds(900)), "hit; ttl=-900; detail=stale-if-error"),
    (.staleIfError(staleness: .zero), "hit; ttl=0; detail=stale-if-error"),
    (.miss(stored: true), "fwd=uri-miss; stored"),
    (.collapsed, "fwd=uri-miss; collapsed"),
    (.request(stored: false), "fwd=request"),
  ])
  func tellsHowAnAnswerCameAbout(outcome: CacheOutcome, parameters: String) {
    #expect(outcome.parameters == parameters)
    #expect(outcome.parameters.contains("hit") != outcome.parameters.contains("fwd"))
    #expect(outcome.isForwarded == outcome.parameters.hasPrefix("fwd"))
  }
}
