import Model
import Testing

@testable import Gateway

struct CommitSignalTests {
  private static let user = Viewer(layers: [.user("u"), .public])

  private static func commit(in scope: Scope) -> CommitReport {
    CommitReport(
      revision: Revision(1),
      changes: [.init(scope: scope, key: EntityKey(type: "Film", key: "1"))], invalidated: [],
      resultChanged: false, isExact: true, head: Revision(1))
  }

  /// A signal without heartbeats and alarms: it sleeps until it is cancelled.
  private static func quiet() -> CommitSignal {
    CommitSignal { _ in try await ContinuousClock().sleep(until: .now + .seconds(3600)) }
  }

  @Test("A wake before the wait is kept")
  func keepsWakeBeforeWait() async {
    let signal = Self.quiet()
    let listener = signal.listen(as: .anonymous)
    signal.note(Self.commit(in: .public))
    #expect(await listener.next() == .commit)
  }

  @Test("A commit wakes only listeners of the scopes it changed")
  func wakesOnlyChangedScopes() async {
    let signal = Self.quiet()
    let mine = signal.listen(as: Self.user)
    let open = signal.listen(as: .anonymous)
    signal.note(Self.commit(in: .user("u")))
    #expect(await mine.next() == .commit)
    signal.end()
    #expect(await open.next() == .end)
  }

  @Test("A commit wakes a waiting listener")
  func wakesWaiter() async {
    let signal = Self.quiet()
    let listener = signal.listen(as: .anonymous)
    async let wakes = listener.next()
    signal.note(Self.commit(in: .public))
    #expect(await wakes == .commit)
  }

  @Test("A commit without changes wakes no listener")
  func emptyCommitWakesNone() async {
    let signal = Self.quiet()
    let listener = signal.listen(as: .anonymous)
    signal.note(
      CommitReport(
        revision: nil, changes: [], invalidated: [], resultChanged: false, isExact: true,
        head: Revision(1)))
    signal.end()
    #expect(await listener.next() == .end)
  }

  /// A list can have other members although no entity changed, and nothing else wakes the stream of a
  /// response that is not kept in memory after an invalidation.
  @Test("A listener of a result is woken by list changes and invalidations")
  func resultListenerIsWokenByListChanges() async {
    let signal = Self.quiet()
    let key = ResultKey(operation: "Films", variables: "{}", scope: .public)
    let films = signal.listen(as: .anonymous, result: key)
    let others = signal.listen(
      as: .anonymous, result: ResultKey(operation: "People", variables: "{}", scope: .public))
    let deltas = signal.listen(as: .anonymous)
    signal.note(
      CommitReport(
        revision: Revision(1), changes: [], invalidated: [], resultChanged: true,
        changedResult: key, isExact: true, head: Revision(1)))
    #expect(await films.next() == .commit)
    signal.note(
      CommitReport(
        revision: nil, changes: [], invalidated: [.operation("Films")], resultChanged: false,
        isExact: true, head: Revision(1)))
    #expect(await films.next() == .commit)
    #expect(await others.next() == .commit)
    signal.remove(films)
    signal.remove(others)
    signal.end()
    #expect(await deltas.next() == .end)
    #expect(signal.count == 1)
  }

  @Test("Cancelling ends the wait")
  func cancellingEndsTheWait() async {
    let signal = Self.quiet()
    let listener = signal.listen(as: .anonymous)
    let task = Task { await listener.next() }
    task.cancel()
    #expect(await task.value == .end)
    signal.remove(listener)
    #expect(signal.count == 0)
  }

  @Test("A listener that registers after the end is ended immediately")
  func lateListenerIsEnded() async {
    let signal = Self.quiet()
    signal.end()
    #expect(await signal.listen(as: .anonymous).next() == .end)
  }

  @Test("One timer sends heartbeats to all listeners that want them")
  func oneTimerSendsAllHeartbeats() async {
    let (sleeps, asked) = AsyncStream<Duration>.makeStream()
    let (released, release) = AsyncStream<Void>.makeStream()
    let gate = ReleaseGate(released)
    let signal = CommitSignal { duration in
      asked.yield(duration)
      try await gate.pass()
    }
    let first = signal.listen(as: .anonymous, wantsHeartbeats: true)
    let second = signal.listen(as: .anonymous, wantsHeartbeats: true)
    var durations = sleeps.makeAsyncIterator()
    #expect(await durations.next() == CommitSignal.heartbeatInterval)
    release.yield()
    #expect(await first.next() == .heartbeat)
    #expect(await second.next() == .heartbeat)
    #expect(await durations.next() == CommitSignal.heartbeatInterval)
    signal.remove(first)
    signal.remove(second)
    release.finish()
  }
}

/// Lets one sleeper through for each release.
private actor ReleaseGate {
  private let releases: AsyncStream<Void>

  init(_ releases: AsyncStream<Void>) {
    self.releases = releases
  }

  func pass() async throws {
    var iterator = releases.makeAsyncIterator()
    if await iterator.next() == nil { throw CancellationError() }
  }
}
