extension Larder {
  /// Without a signal `run` looks for changes so often.
  private static let longestPause = Duration.seconds(60)

  /// Sends and syncs by itself until the task is cancelled: when something is submitted, when Larder
  /// reports a change, and once a minute. After failures it waits 1 s, then twice as long each time, up
  /// to 60 s, each with a random part.
  ///
  /// - Parameter onError: receives what went wrong; the next round follows anyway.
  public func run(onError: @escaping @Sendable (any Error) -> Void = { _ in }) async {
    var signals = work.signals().makeAsyncIterator()
    work.send()
    await withTaskGroup(of: Void.self) { group in
      group.addTask { await self.watch() }
      var failures = 0
      while await signals.next() != nil, !Task.isCancelled {
        var least = 0
        do {
          if await profile?.canSend == true {
            let result = try await send()
            try await sync()
            try await sendPushToken()
            if let error = result.error { throw error }
          }
          failures = 0
        } catch {
          if Task.isCancelled { break }
          failures += 1
          if case LarderError.unavailable(_, let seconds?) = error { least = seconds }
          onError(error)
        }
        let pause = Self.pause(after: failures, atLeast: .seconds(least))
        group.addTask {
          try? await Task.sleep(for: pause)
          self.work.send()
        }
      }
      group.cancelAll()
    }
  }

  private static func pause(after failures: Int, atLeast least: Duration) -> Duration {
    guard failures > 0 else { return longestPause }
    let grown = Duration.seconds(1 << min(failures - 1, 6)) * Double.random(in: 0.5...1)
    return max(min(grown, longestPause), least)
  }

  /// Wakes `run` at each change that Larder reports to the active profile.
  private func watch() async {
    while !Task.isCancelled {
      if await profile?.canSend == true {
        do {
          for try await event in live(.changes(types: [])) where event.name == "change" {
            work.send()
          }
        } catch {}
      }
      try? await Task.sleep(for: .seconds(5))
    }
  }
}
