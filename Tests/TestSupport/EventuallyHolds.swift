/// Waits until a condition holds, and looks at it each millisecond. A test that looks without a pause takes the
/// processors from the tests beside it, and from what it waits for.
///
/// - Returns: false if it still does not hold after the limit.
package func eventuallyHolds(
  within limit: Duration = .seconds(30), _ condition: () async throws -> Bool
) async rethrows -> Bool {
  var looks = Looks(within: limit)
  while looks.goOn {
    if try await condition() { return true }
    await looks.pause()
  }
  return try await condition()
}

/// The looks at what a test waits for, and when they end. Beside tests that compute for seconds on each of two
/// processors, the time of a limit can pass between two looks, and what is waited for got no turn either. So
/// the limit counts only after a few turns.
package struct Looks {
  private static let countMin = 100

  private let deadline: ContinuousClock.Instant
  private let countMin: Int
  /// The number of pauses so far.
  package private(set) var count = 0

  package init(within limit: Duration = .seconds(30)) {
    deadline = ContinuousClock.now + limit
    // A pause takes a millisecond or more, so that a short limit is not made longer.
    countMin = min(Self.countMin, Int(limit / .milliseconds(1)))
  }

  /// Whether to look once more.
  package var goOn: Bool { ContinuousClock.now < deadline || count < countMin }

  package mutating func pause() async {
    count += 1
    await pauseBetweenLooks()
  }
}

/// The pause between two looks at what a test waits for.
package func pauseBetweenLooks() async {
  // A cancelled task looks on until its deadline.
  do { try await Task.sleep(for: .milliseconds(1)) } catch { await Task.yield() }
}
