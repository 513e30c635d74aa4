import Logging
import Model
import TestSupport
import Testing

@testable import Gateway

struct HookOutMetersTests {
  private let log = RecordedLog()
  private static let start = Timestamp(milliseconds: 1_700_000_000_000)

  private static func time(_ seconds: Int64) -> Timestamp {
    start.advanced(by: .seconds(seconds))
  }

  @Test("Log lines name all dropped events, each once")
  func reportsEveryDroppedEvent() {
    let meters = HookOutMeters(hook: "users", logger: log.logger)
    for _ in 1...21 { meters.noteDropped(1, .full, at: Self.start) }
    #expect(log.lines.map { $0.metadata["dropped"] } == [.stringConvertible(1)])
    meters.noteDropped(5, .full, at: Self.time(61))
    #expect(
      log.lines.map { $0.metadata["dropped"] } == [.stringConvertible(1), .stringConvertible(25)])
    meters.noteDropped(3, .full, at: Self.time(62))
    meters.reportDropped()
    meters.reportDropped()
    #expect(log.lines.map { $0.metadata["dropped"] } == [1, 25, 3].map { .stringConvertible($0) })
    #expect(meters.counts.dropped == 29)
  }

  @Test("The last fault is the cause of an outage, not the circuit breaker's pause after it")
  func keepsTheCause() {
    let meters = HookOutMeters(hook: "users", logger: log.logger)
    let pause = HookExchange.Answer.none(
      wasSent: false, retryAfter: .seconds(5), reason: "the circuit breaker is open")
    let refused = HookExchange.Answer.none(
      wasSent: false, retryAfter: nil, reason: "the connection failed")
    #expect(pause.isPause && !refused.isPause)
    #expect(!HookExchange.Answer.status(503, detail: nil, retryAfter: .seconds(5)).isPause)
    func note(_ answer: HookExchange.Answer, after seconds: Int64) {
      meters.note(
        .notSent, reason: answer.reason, isPause: answer.isPause, at: Self.time(seconds))
    }
    // Nothing else is known.
    note(pause, after: 0)
    #expect(meters.counts.lastFault?.reason == pause.reason)
    note(refused, after: 1)
    note(pause, after: 2)
    #expect(meters.counts.lastFault?.reason == refused.reason)
    #expect(meters.counts.lastFault?.at == Self.time(1))
    #expect(meters.counts.outcomes[.notSent] == 3 && meters.counts.last == Self.time(2))
  }
}
