/// A clock for the beats of live streams that stands still until it is told to go on.
final class BeatClock: Sendable {
  private let gate: Gate
  private let release: AsyncStream<Void>.Continuation
  private let asked: AsyncStream<Duration>.Continuation
  /// What was waited for, one after the other.
  let durations: AsyncStream<Duration>

  init() {
    let (releases, release) = AsyncStream<Void>.makeStream()
    self.release = release
    gate = Gate(releases)
    (durations, asked) = AsyncStream.makeStream()
  }

  deinit { release.finish() }

  /// What sleeps by this clock; ends when ``beat()`` is called, or with its task.
  func sleep(_ duration: Duration) async throws {
    asked.yield(duration)
    try await gate.pass()
  }

  /// Lets one sleeper through, or the next that comes.
  func beat() { release.yield() }
}

/// Lets one sleeper through for each release.
private actor Gate {
  private let releases: AsyncStream<Void>

  init(_ releases: AsyncStream<Void>) {
    self.releases = releases
  }

  func pass() async throws {
    var iterator = releases.makeAsyncIterator()
    if await iterator.next() == nil { throw CancellationError() }
  }
}
