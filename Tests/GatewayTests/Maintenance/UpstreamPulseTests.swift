import Logging
import Synchronization
import TestSupport
import Testing
import Upstream

@testable import Gateway

extension UpstreamPulse {
  /// For tests that are not about the log.
  static var silent: UpstreamPulse {
    UpstreamPulse(
      uptime: { .zero }, logger: Logger(label: "tests") { _ in SwiftLogNoOpLogHandler() })
  }
}

struct UpstreamPulseTests {
  private final class Moment: Sendable {
    private let time = Mutex(Duration.zero)
    var now: Duration { time.withLock { $0 } }
    func pass(_ duration: Duration) { time.withLock { $0 += duration } }
  }

  private let log = RecordedLog()
  private let moment = Moment()
  private let pulse: UpstreamPulse

  init() {
    pulse = UpstreamPulse(uptime: { [moment] in moment.now }, logger: log.logger)
  }

  private static let refused = UpstreamFailure.notSent(cause: "Connection refused")

  @Test("Notifying the observer takes no more stack after a million responses")
  func observersAreNotWrapped() {
    let count = Atomic(0)
    pulse.observe { _ in count.add(1, ordering: .relaxed) }
    for _ in 0..<1_000_000 { pulse.noteWork(of: "default") }
    #expect(count.load(ordering: .relaxed) == 1_000_000)
  }

  @Test("An outage is logged once with its cause, and once when it ends")
  func outageIsLoggedOnce() {
    pulse.noteAnswer()
    #expect(log.lines.isEmpty)
    for _ in 1...1000 {
      pulse.note(Self.refused)
      moment.pass(.milliseconds(50))
    }
    #expect(log.lines.map(\.level) == [.warning])
    #expect(log.lines[0].metadata["cause"] == "\(Self.refused)")
    #expect(pulse.isReachable == false)
    moment.pass(.seconds(10))
    pulse.noteAnswer()
    #expect(pulse.isReachable == true)
    #expect(log.lines.map(\.level) == [.warning, .warning])
    #expect(log.lines[1].metadata == ["after_seconds": "60", "failed_calls": "1000"])
    pulse.noteAnswer()
    #expect(log.lines.count == 2)
  }

  @Test("An upstream that fails every other call does not fill the log")
  func flakyUpstreamDoesNotFillLog() {
    for _ in 1...1000 {
      pulse.note(Self.refused)
      moment.pass(.milliseconds(100))
      pulse.noteAnswer()
      moment.pass(.milliseconds(100))
    }
    #expect(log.lines.count == 1)
    moment.pass(UpstreamPulse.quiet)
    pulse.noteAnswer()
    #expect(log.lines.count == 2)
    // Counted to the first response after the last failure, not to the call that ended the outage.
    #expect(log.lines[1].metadata["after_seconds"] == "199")
  }

  @Test("The present outage is shown with its length and its failed calls, until it has ended")
  func outageIsShown() {
    #expect(pulse.outageStatus == nil)
    pulse.note(Self.refused)
    moment.pass(.seconds(5))
    pulse.note(Self.refused)
    #expect(pulse.outageStatus == UpstreamPulse.OutageStatus(duration: .seconds(5), failures: 2))
    moment.pass(.seconds(5))
    pulse.noteAnswer()
    #expect(pulse.outageStatus == nil)
  }

  @Test("Refused credentials are counted, and other failures are not")
  func refusalsAreCounted() {
    for failure in [
      Self.refused, .timeout(wasSent: true), .status(403, retryAfter: nil),
      .status(500, retryAfter: nil), .refused(.forbidden),
    ] {
      pulse.note(failure)
    }
    #expect(pulse.refusalStatus == UpstreamPulse.RefusalStatus(count: 0, age: nil))
    pulse.note(.status(401, retryAfter: nil))
    moment.pass(.seconds(3))
    #expect(pulse.refusalStatus == UpstreamPulse.RefusalStatus(count: 1, age: .seconds(3)))
  }

  private static let serviceRefusal = ServiceRefusal(
    reason: "status 401", settings: ["upstream.secret"])

  @Test("A refused service credential is logged once a minute with its cure, and at its end")
  func serviceRefusalIsLogged() {
    pulse.noteService(nil)
    #expect(log.lines.isEmpty && pulse.serviceRefusal == nil)
    for _ in 1...90 {
      pulse.note(.serviceRefused(Self.serviceRefusal))
      moment.pass(.seconds(1))
    }
    #expect(log.lines.map(\.level) == [.warning, .warning])
    #expect(log.lines[0].metadata["cause"] == "status 401")
    #expect(log.lines[0].metadata["cure"]?.description.contains("upstream.secret") == true)
    #expect(log.lines[1].metadata["refused_calls"] == "61")
    let status = pulse.serviceRefusal
    #expect(status?.count == 90 && status?.duration == .seconds(90))
    #expect(status?.settings == ["upstream.secret"] && status?.reason == "status 401")
    #expect(pulse.isReachable == true && pulse.outageStatus == nil)
    #expect(pulse.refusalStatus.count == 90)
    // Accepted calls beside refused ones do not end it.
    pulse.note(.serviceRefused(Self.serviceRefusal))
    pulse.noteService(nil)
    #expect(pulse.serviceRefusal != nil)
    moment.pass(UpstreamPulse.quiet)
    pulse.noteService(nil)
    #expect(pulse.serviceRefusal == nil)
    #expect(log.lines.count == 3 && log.lines[2].metadata["refused_calls"] == "91")
    // The next one within the minute is shown, though not logged.
    pulse.noteService(Self.serviceRefusal)
    #expect(pulse.serviceRefusal?.count == 1 && log.lines.count == 3)
  }

  @Test(
    "Cancelled and rejected calls say nothing about upstream",
    arguments: [UpstreamFailure.busy, .cancelled(wasSent: true), .cancelled(wasSent: false)])
  func abandonedCallsAreIgnored(failure: UpstreamFailure) {
    pulse.note(failure)
    #expect(pulse.isReachable == nil)
    #expect(log.lines.isEmpty)
  }
}
