/// Runs operations one after the other, in the order in which they were asked for. A cancelled task stops
/// waiting.
actor Exclusive {
  private struct Waiter {
    let number: Int
    let continuation: CheckedContinuation<Void, any Error>
  }

  private var isBusy = false
  private var waiters: [Waiter] = []
  /// Of the last waiter.
  private var number = 0

  /// The number of operations that wait.
  var waitingCount: Int { waiters.count }

  /// - Throws: what the operation throws, and `CancellationError` if the task is cancelled while it waits.
  func run<Result: Sendable>(
    _ operation: @Sendable () async throws -> Result
  ) async throws -> Result {
    if isBusy { try await waitForTurn() }
    isBusy = true
    defer {
      // The next one takes over without a moment in which another could.
      if waiters.isEmpty { isBusy = false } else { waiters.removeFirst().continuation.resume() }
    }
    return try await operation()
  }

  private func waitForTurn() async throws {
    number += 1
    let number = number
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation {
        (continuation: CheckedContinuation<Void, any Error>) in
        guard !Task.isCancelled else { return continuation.resume(throwing: CancellationError()) }
        waiters.append(Waiter(number: number, continuation: continuation))
      }
    } onCancel: {
      Task { await giveUp(number) }
    }
  }

  /// Ends a wait, unless the turn has come.
  private func giveUp(_ number: Int) {
    guard let index = waiters.firstIndex(where: { $0.number == number }) else { return }
    waiters.remove(at: index).continuation.resume(throwing: CancellationError())
  }
}
