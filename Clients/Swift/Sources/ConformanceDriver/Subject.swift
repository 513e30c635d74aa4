import Larder

/// An open subject, and its events since the last command.
actor Subject {
  private var events: [LiveEvent] = []
  private var failure: (any Error)?
  private var source = LiveEvent.Source.stream
  private var task: Task<Void, Never>?
  private(set) var rows = LiveList()

  func follow(_ live: AsyncThrowingStream<LiveEvent, any Error>) {
    task = Task {
      do {
        for try await event in live { keep(event) }
      } catch {
        failure = error
      }
    }
  }

  private func keep(_ event: LiveEvent) {
    source = event.source
    if ["message", "change", "list", "diff"].contains(event.name) { events.append(event) }
  }

  /// The events since the last call, waiting for so many of them.
  func take(_ atLeast: Int, within limit: Duration) async throws -> JSONValue {
    let deadline = ContinuousClock.now + limit
    while events.count < atLeast, ContinuousClock.now < deadline {
      if let failure { throw failure }
      try await Task.sleep(for: .milliseconds(10))
    }
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
