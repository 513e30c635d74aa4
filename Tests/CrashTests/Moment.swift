import Dispatch

/// Waiting in tests of processes, without holding a thread of the cooperative pool.
enum Moment {
  private static let queue = DispatchQueue(label: "moments")
  private static let interval = DispatchTimeInterval.milliseconds(5)

  /// A moment that is itself what the test is about: when a kill hits. Never a way to wait for
  /// something.
  static func passes(_ duration: Duration) async {
    await withCheckedContinuation { continuation in
      queue.asyncAfter(deadline: .now() + .microseconds(Int(duration / .microseconds(1)))) {
        continuation.resume()
      }
    }
  }

  /// Waits until something holds.
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
