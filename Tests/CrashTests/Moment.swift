import Dispatch

/// Waiting in tests of processes, without holding a thread of the cooperative pool.
enum Moment {
  private static let queue = DispatchQueue(label: "moments")
  private static let interval = DispatchTimeInterval.milliseconds(5)

  /// Waits for a moment that is itself the subject of the test: the time of a kill. Never a way to wait for
  /// something else.
  static func passes(_ duration: Duration) async {
    await withCheckedContinuation { continuation in
      queue.asyncAfter(deadline: .now() + .microseconds(Int(duration / .microseconds(1)))) {
        continuation.resume()
      }
    }
  }

  /// Waits until a condition holds.
  ///
  /// - Returns: whether it did within the time.
  static func comes(withinSeconds seconds: Int, _ holds: () async throws -> Bool) async
    -> Bool
  {
    let deadline = ContinuousClock.now + .seconds(seconds)
    while ContinuousClock.now < deadline {
      if (try? await holds()) == true { return true }
      await withCheckedContinuation { continuation in
        queue.asyncAfter(deadline: .now() + interval) { continuation.resume() }
      }
    }
    return false
  }
}
