import Push
import Testing

struct PushOutcomeTests {
  @Test func hasTheNamesThatClientsRead() {
    #expect(PushOutcome.allCases.map(\.rawValue) == ["queued", "sent", "invalid", "failed"])
  }
}
