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

  /// No beats and no alarms: sleeps until it is cancelled.
  private static func quiet() -> CommitSignal {
    CommitSignal { _ in try await ContinuousClock().sleep(until: .now + .seconds(3600)) }
  }

  @Test func aWakeBeforeTheWaitIsKept() async {
    let signal = Self.quiet()
    let listener = signal.listen(as: .anonymous)
    signal.note(Self.commit(in: .public))
    #expect(await listener.next() == .commit)
  }

  @Test func onlyTheScopesThatChangedAreWoken() async {
    let signal = Self.quiet()
    let mine = signal.listen(as: Self.user)
    let open = signal.listen(as: .anonymous)
    signal.note(Self.commit(in: .user("u")))
    #expect(await mine.next() == .commit)
    signal.end()
    #expect(await open.next() == .end)
  }

  @Test func aWaiterIsWoken() async {
    let signal = Self.quiet()
    let listener = signal.listen(as: .anonymous)
    async let wakes = listener.next()
    signal.note(Self.commit(in: .public))
    #expect(await wakes == .commit)
  }

  @Test func aCommitThatChangedNothingWakesNobody() async {
    let signal = Self.quiet()
    let listener = signal.listen(as: .anonymous)
    signal.note(
      CommitReport(
        revision: nil, changes: [], invalidated: [], resultChanged: false, isExact: true,
        head: Revision(1)))
    signal.end()
    #expect(await listener.next() == .end)
  }

  /// A list may have other members though no entity changed, and an answer that is not kept in memory
  /// is told of an invalidation by nobody else.
  @Test func whoShowsAnAnswerHearsOfItsListAndOfInvalidations() async {
    let signal = Self.quiet()
    let key = ResultKey(operation: "Films", variables: "{}", scope: .public)
    let films = signal.listen(as: .anonymous, answer: key)
    let others = signal.listen(
      as: .anonymous, answer: ResultKey(operation: "People", variables: "{}", scope: .public))
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

  @Test func cancellingEndsTheWait() async {
    let signal = Self.quiet()
    let listener = signal.listen(as: .anonymous)
    let task = Task { await listener.next() }
    task.cancel()
    #expect(await task.value == .end)
    signal.remove(listener)
    #expect(signal.count == 0)
  }

  @Test func whoComesAfterTheEndHearsOfIt() async {
    let signal = Self.quiet()
    signal.end()
    #expect(await signal.listen(as: .anonymous).next() == .end)
  }

  @Test func oneTimerBeatsForAllWhoListenForIt() async {
    let (sleeps, asked) = AsyncStream<Duration>.makeStream()
    let (released, release) = AsyncStream<Void>.makeStream()
    let gate = ReleaseGate(released)
    let signal = CommitSignal { duration in
      asked.yield(duration)
      try await gate.pass()
    }
    let first = signal.listen(as: .anonymous, hearsBeats: true)
    let second = signal.listen(as: .anonymous, hearsBeats: true)
    var durations = sleeps.makeAsyncIterator()
    #expect(await durations.next() == CommitSignal.beatInterval)
    release.yield()
    #expect(await first.next() == .beat)
    #expect(await second.next() == .beat)
    #expect(await durations.next() == CommitSignal.beatInterval)
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
