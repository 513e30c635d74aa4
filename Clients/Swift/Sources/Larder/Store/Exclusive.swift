/// Runs operations one after the other, in the order in which they were asked for.
actor Exclusive {
  private var isBusy = false
  private(set) var waiting: [CheckedContinuation<Void, Never>] = []

  func run<Result: Sendable>(
    _ operation: @Sendable () async throws -> Result
  ) async throws -> Result {
    if isBusy {
      await withCheckedContinuation { waiting.append($0) }
    }
    isBusy = true
    defer {
      // The next one takes over without a moment in which another could.
      if waiting.isEmpty { isBusy = false } else { waiting.removeFirst().resume() }
    }
    return try await operation()
  }
}
