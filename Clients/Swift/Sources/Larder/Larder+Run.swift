import Foundation

extension Larder {
  /// Sends and syncs by itself until the task is cancelled: when something is submitted, when Larder
  /// reports a change, and once a minute. After failures it waits 1 s, then twice as long each time, up
  /// to 60 s, each with a random part; if Larder says how long, then at least that, up to an hour.
  ///
  /// While it runs, another call wakes it and returns. One that comes while a cancelled call ends takes over.
  ///
  /// - Parameter onError: receives what went wrong; the next round follows anyway.
  public func run(onError: @escaping @Sendable (any Error) -> Void = { _ in }) async {
    let call = UUID()
    await withTaskCancellationHandler {
      var ends = turn.ends.signals().makeAsyncIterator()
      while true {
        switch turn.take(call) {
        case .taken:
          await runRounds(onError)
          return turn.end()
        case .isRunning: return work.send()
        case .isEnding:
          guard await ends.next() != nil else { return }
        }
      }
    } onCancel: {
      turn.cancel(call)
    }
  }

  private func runRounds(_ onError: @Sendable (any Error) -> Void) async {
    var signals = work.signals().makeAsyncIterator()
    work.send()
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
      try? await sleep(.seconds(5))
    }
  }
}

/// Which call of `run` runs.
final class RunTurn: Sendable {
  enum Answer: Sendable {
    case taken
    /// Another call runs.
    case isRunning
    /// Another call was cancelled, but has not ended: ask again after the next signal of `ends`.
    case isEnding
  }

  private enum State: Equatable, Sendable {
    case idle
    case running(UUID)
    case ending
  }

  let ends = Broadcast()
  private let state = Locked(State.idle)

  /// Takes the turn for a call, if it is free.
  func take(_ call: UUID) -> Answer {
    state.withLock { state in
      switch state {
      case .idle:
        // One that is cancelled later finds the turn to be its own.
        state = Task.isCancelled ? .ending : .running(call)
        return .taken
      case .running: return .isRunning
      case .ending: return .isEnding
      }
    }
  }

  func cancel(_ call: UUID) {
    state.withLock { state in
      if state == .running(call) { state = .ending }
    }
  }

  func end() {
    state.withLock { $0 = .idle }
    ends.send()
  }
}

/// Pauses between the rounds of `run`.
enum RunPauses {
  /// Without a signal `run` looks for changes so often.
  static let longest = Duration.seconds(60)

  /// The pause after so many failures in a row.
  static func pause(after failures: Int, retryAfter: Int?) -> Duration {
    guard failures > 0 else { return longest }
    return RetryPause.pause(after: failures, longest: longest, retryAfter: retryAfter)
  }
}
