import Foundation
import Testing

@testable import Larder

struct RunTests {
  /// Waits that end when they are cancelled.
  private final class Timers: Sendable {
    /// The timer of `run`, and the pause of the changes that it follows.
    static let ofRun = 2

    private let running = Locked(0)

    var count: Int { running.withLock { $0 } }

    func sleep() async throws {
      running.withLock { $0 += 1 }
      defer { running.withLock { $0 -= 1 } }
      try await Task.sleep(for: .seconds(3_600))
    }
  }

  private let timers = Timers()

  private func open(_ transport: ScriptedLarder) async throws -> Larder {
    var options = Larder.Options()
    options.sleep = { [timers] _ in try await timers.sleep() }
    return try await ScriptedLarder.open(transport, options: options)
  }

  @Test("`run` has one timer however often it is woken", .timeLimit(.minutes(1)))
  func hasOneTimer() async throws {
    let transport = ScriptedLarder { ScriptedLarder.account($0) ?? (503, [:]) }
    let larder = try await open(transport)
    try await larder.register()
    let running = Task { await larder.run() }
    for round in 1...20 {
      try await larder.submit("RateFilm")
      try await until { transport.requests.filter { $0 == "POST /v1/mutations" }.count >= round }
    }
    try await until { timers.count == Timers.ofRun }
    running.cancel()
    await running.value
    try await until { timers.count == 0 }
  }

  @Test("Another `run` wakes the first and returns", .timeLimit(.minutes(1)))
  func runsOnce() async throws {
    let transport = ScriptedLarder { ScriptedLarder.account($0) ?? (503, [:]) }
    let larder = try await open(transport)
    try await larder.register()
    let failures = Locked(0)
    let running = Task { await larder.run { _ in failures.withLock { $0 += 1 } } }
    try await until { failures.withLock { $0 } > 0 && timers.count == Timers.ofRun }
    let before = failures.withLock { $0 }
    await larder.run { _ in Issue.record("The second call runs too.") }
    try await until { failures.withLock { $0 } > before }
    running.cancel()
    await running.value
    let again = Task { await larder.run { _ in failures.withLock { $0 = -1 } } }
    try await until { failures.withLock { $0 } == -1 }
    again.cancel()
  }

  @Test(
    "`run` that is called again at once after it was cancelled runs", .timeLimit(.minutes(1)))
  func restarts() async throws {
    let transport = ScriptedLarder { ScriptedLarder.account($0) ?? (503, [:]) }
    let larder = try await open(transport)
    try await larder.register()
    var running = Task { await larder.run() }
    for _ in 0..<100 {
      let before = transport.requests.count
      try await larder.submit("RateFilm")
      running.cancel()
      running = Task { await larder.run() }
      try await until { transport.requests.count > before }
    }
    // Of several that wait for the end of a former one, one runs.
    let failures = Locked(0)
    running.cancel()
    let others = (0..<5).map { _ in
      Task { await larder.run { _ in failures.withLock { $0 += 1 } } }
    }
    try await until { failures.withLock { $0 } > 0 && timers.count == Timers.ofRun }
    for other in others { other.cancel() }
    for other in others { await other.value }
  }

  @Test(
    "`run` sends a sign-out that Larder does not know, without an active profile",
    .timeLimit(.minutes(1)))
  func sendsSignOuts() async throws {
    let isOffline = Locked(false)
    let transport = ScriptedLarder { request in
      if isOffline.withLock({ $0 }) { throw LarderError.offline("flight mode", wasSent: false) }
      return ScriptedLarder.account(request) ?? (503, [:])
    }
    let larder = try await open(transport)
    try await larder.signIn(as: "a")
    isOffline.withLock { $0 = true }
    #expect(try await !larder.signOut())
    isOffline.withLock { $0 = false }
    let running = Task { await larder.run() }
    defer { running.cancel() }
    try await until { await larder.profiles.credentials.signOuts.isEmpty }
    #expect(await larder.profile == nil)
  }

  @Test("Pauses grow to a minute, and Larder can ask for an hour at most")
  func limitsPauses() {
    #expect(RunPauses.pause(after: 0, retryAfter: nil) == .seconds(60))
    for failures in 1...100 {
      let pause = RunPauses.pause(after: failures, retryAfter: nil)
      #expect(pause >= .milliseconds(500) && pause <= .seconds(60))
    }
    #expect(RunPauses.pause(after: 1, retryAfter: 120) == .seconds(120))
    #expect(RunPauses.pause(after: 1, retryAfter: .max) == .seconds(3_600))
    #expect(RunPauses.pause(after: 9, retryAfter: -1) >= .seconds(30))
  }
}
