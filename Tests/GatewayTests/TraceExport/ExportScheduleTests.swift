import Testing

@testable import Gateway

struct ExportScheduleTests {
  private static func step(
    _ answer: ExportSchedule.Answer, _ attempt: Int = 1, chance: Double = 1
  ) -> ExportSchedule.Step {
    ExportSchedule.step(after: answer, attempt: attempt, chance: chance)
  }

  @Test("Accepted spans are done, rejected ones are not sent again")
  func endsWhenAccepted() {
    #expect(
      Self.step(.accepted(rejected: 3, reason: "too old")) == .done(rejected: 3, reason: "too old"))
  }

  @Test("Only the statuses that OTLP names are retried", arguments: 300..<600)
  func retriesSomeStatuses(status: Int) {
    let step = Self.step(.status(status, retryAfter: nil))
    if [429, 502, 503, 504].contains(status) {
      #expect(step == .retry(after: .seconds(1), reason: "status \(status)"))
    } else {
      #expect(step == .drop(reason: "status \(status)"))
    }
  }

  @Test("A collector that cannot be reached is retried, a response that cannot be read is not")
  func retriesConnections() {
    #expect(Self.step(.none(reason: "lost")) == .retry(after: .seconds(1), reason: "lost"))
    #expect(Self.step(.unreadable(reason: "large")) == .drop(reason: "large"))
  }

  @Test("Pauses double up to a limit and are spread", arguments: 1..<6)
  func doublesPauses(attempt: Int) {
    let longest = min(Duration.seconds(30), .seconds(1 << (attempt - 1)))
    #expect(
      Self.step(.none(reason: "lost"), attempt) == .retry(after: longest, reason: "lost"))
    #expect(
      Self.step(.none(reason: "lost"), attempt, chance: 0)
        == .retry(after: longest / 2, reason: "lost"))
  }

  @Test("The collector's own pause replaces them, up to a limit")
  func honoursRetryAfter() {
    #expect(
      Self.step(.status(503, retryAfter: .seconds(7)), 4)
        == .retry(after: .seconds(7), reason: "status 503"))
    #expect(
      Self.step(.status(429, retryAfter: .seconds(86_400)))
        == .retry(after: ExportSchedule.retryAfterMax, reason: "status 429"))
    #expect(
      Self.step(.status(500, retryAfter: .seconds(7))) == .drop(reason: "status 500"))
  }

  @Test("A batch is dropped after the last attempt")
  func givesUp() {
    let last = ExportSchedule.attemptsMax
    #expect(Self.step(.none(reason: "lost"), last) == .drop(reason: "lost"))
    #expect(
      Self.step(.status(503, retryAfter: .seconds(1)), last) == .drop(reason: "status 503"))
  }
}
