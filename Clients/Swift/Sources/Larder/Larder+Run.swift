extension Larder {
  /// Sends and syncs by itself until the task is cancelled: when something is submitted, when Larder
  /// reports a change, and once a minute. After failures it waits 1 s, then twice as long each time, up
  /// to 60 s, each with a random part; if Larder says how long, then at least that, up to an hour.
  ///
  /// While it runs, another call wakes it and returns.
  ///
  /// - Parameter onError: receives what went wrong; the next round follows anyway.
  public func run(onError: @escaping @Sendable (any Error) -> Void = { _ in }) async {
    var signals = work.signals().makeAsyncIterator()
    work.send()
    let isFirst = isRunning.withLock { isRunning in
      defer { isRunning = true }
      return !isRunning
    }
    guard isFirst else { return }
    defer { isRunning.withLock { $0 = false } }
    let watching = Task { await watch() }
    var timer: Task<Void, Never>?
    defer {
      watching.cancel()
      timer?.cancel()
    }
    var failures = 0
    while await signals.next() != nil, !Task.isCancelled {
      timer?.cancel()
      var retryAfter: Int?
      do {
        try await round()
        failures = 0
      } catch {
        if Task.isCancelled { break }
        failures += 1
        if case LarderError.unavailable(_, let seconds) = error { retryAfter = seconds }
        onError(error)
      }
      let pause = RunPauses.pause(after: failures, retryAfter: retryAfter)
      timer = Task { [sleep, work] in
        do {
          try await sleep(pause)
          work.send()
        } catch {
          // Something else has begun the next round.
        }
      }
    }
  }

  private func round() async throws {
    guard await profile?.canSend == true else {
      // A sign-out reaches Larder also while no user is signed in.
      return try await profiles.sendSignOuts()
    }
    let result = try await send()
    try await sync()
    try await sendPushToken()
    if let error = result.error { throw error }
  }

  /// Wakes `run` at each change that Larder reports to the active profile.
  private func watch() async {
    while !Task.isCancelled {
      if await profile?.canSend == true {
        do {
          for try await event in live(.changes(types: [])) where event.name == "change" {
            work.send()
          }
        } catch {
          // It is opened again below, for the profile that is active then.
        }
      }
      try? await Task.sleep(for: .seconds(5))
    }
  }
}

/// Pauses between the rounds of `run`.
enum RunPauses {
  /// Without a signal `run` looks for changes so often.
  static let longest = Duration.seconds(60)
  /// Also where Larder, or a proxy, asks for more.
  static let retryAfterMax = 3_600

  /// The pause after so many failures in a row.
  static func pause(after failures: Int, retryAfter: Int?) -> Duration {
    guard failures > 0 else { return longest }
    let grown = Duration.seconds(1 << min(failures - 1, 6)) * Double.random(in: 0.5...1)
    return max(min(grown, longest), .seconds(min(retryAfter ?? 0, retryAfterMax)))
  }
}
