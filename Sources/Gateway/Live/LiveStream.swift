package import Model

/// One client's live stream of many subjects.
///
/// Each event has the id of the subject in its data. What is ready is written together; the last event
/// of it carries the positions of all subjects as its id.
package final class LiveStream: EventSource {
  /// The maximum number of bytes after which what is ready waits for the next write.
  private static let batchBytesMax = 64 << 10

  /// A stream that was registered; it is removed when this is released.
  package final class Start: Sendable {
    let board: LiveBoard
    private let streams: LiveStreams
    /// The stream's id.
    package var id: String { board.id }

    init(board: LiveBoard, streams: LiveStreams) {
      self.board = board
      self.streams = streams
    }

    deinit { streams.remove(board) }
  }

  private let streams: LiveStreams
  private let start: Start
  private let problem: @Sendable (Failure) -> [UInt8]
  private var isOpen = false
  private var board: LiveBoard { start.board }

  /// - Parameter problem: renders a failure as a problem document.
  init(streams: LiveStreams, start: Start, problem: @escaping @Sendable (Failure) -> [UInt8]) {
    self.streams = streams
    self.start = start
    self.problem = problem
  }

  package func next() async throws(Failure) -> [UInt8]? {
    if !isOpen {
      // Checked again after registering: a revocation in between would not end the listener.
      try await streams.devices.confirm(board.caller)
      isOpen = true
      return bytes(of: [LiveEnvelope.open(board.id, resumed: board.open())])
    }
    while true {
      if board.listener.hasEnded { return nil }
      if let batch = batch() { return batch }
      let wakes = await board.listener.next()
      if wakes.contains(.end) { return nil }
      if wakes.contains(.heartbeat) { return batch() ?? EventFrame.comment }
    }
  }

  /// Returns what is ready; nil if there is nothing.
  private func batch() -> [UInt8]? {
    var events: [EventFrame.Event] = []
    var byteCount = 0
    while byteCount < Self.batchBytesMax, let (subject, delivery) = board.take() {
      let added: [EventFrame.Event]
      switch delivery {
      case .frames(let frames):
        added = LiveEnvelope.wrapped(frames, of: subject)
        if let position = added.last(where: { $0.id != nil })?.id {
          board.note(position: position, of: subject)
        }
      case .failed(let failure):
        added = [LiveEnvelope.failure(problem(failure), of: subject)]
      case .ended:
        // While the service drains all subjects end: the client reconnects.
        if streams.signal.hasEnded { return nil }
        added = [LiveEnvelope.end(of: subject)]
      }
      byteCount += added.reduce(0) { $0 + $1.data.count }
      events += added
    }
    return events.isEmpty ? nil : bytes(of: events)
  }

  private func bytes(of events: [EventFrame.Event]) -> [UInt8] {
    let positions = board.positions
    let id =
      positions.isEmpty ? nil : streams.codec.encode(positions, viewer: board.caller.viewer)
    var bytes: [UInt8] = []
    for (index, event) in events.enumerated() {
      EventFrame.append(
        id: index == events.count - 1 ? id : nil, event: event.event, data: event.data, to: &bytes)
    }
    return bytes
  }
}
