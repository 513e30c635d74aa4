import Larder

/// An open subject, and its events since the last command.
actor Subject {
  private var events: [LiveEvent] = []
  private var failure: (any Error)?
  private var source = LiveEvent.Source.stream
  private var task: Task<Void, Never>?
  /// Continues `take`, which waits for so many events.
  private var waiting: (count: Int, continuation: CheckedContinuation<Void, Never>)?
  private(set) var rows = LiveList()

  func follow(_ live: AsyncThrowingStream<LiveEvent, any Error>) {
    task = Task {
      do {
        for try await event in live { keep(event) }
      } catch {
        failure = error
        wake()
      }
    }
  }

  private func keep(_ event: LiveEvent) {
    source = event.source
    if ["message", "change", "list", "diff"].contains(event.name) { events.append(event) }
    if let waiting, events.count >= waiting.count { wake() }
  }

  private func wake() {
    waiting?.continuation.resume()
    waiting = nil
  }

  /// Waits until there are so many events, the subject has failed, or the time is over.
  private func wait(for count: Int, within limit: Duration) async {
    guard events.count < count, failure == nil else { return }
    let timer = Task {
      try await Task.sleep(for: limit)
      try Task.checkCancellation()
      wake()
    }
    defer { timer.cancel() }
    await withCheckedContinuation { waiting = (count, $0) }
  }

  /// The events since the last call, waiting for so many of them.
  func take(_ atLeast: Int, within limit: Duration) async throws -> JSONValue {
    await wait(for: atLeast, within: limit)
    if events.count < atLeast, let failure { throw failure }
    let taken = events
    events = []
    for event in taken { try rows.apply(event) }
    let told = taken.map { event -> JSONValue in
      ["event": .string(event.name), "data": event.data]
    }
    return ["events": .array(told), "from": .string(source.rawValue)]
  }

  func close() async {
    task?.cancel()
    await task?.value
  }
}
