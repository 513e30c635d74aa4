import HTTPWire

/// A server without sockets: every path but `/` is 404, and bodies are not asked for.
struct ServerSimulation: ~Copyable {
  private(set) var statuses: [Int] = []
  private(set) var isClosed = false
  private var connection: ServerConnection
  /// Bytes read ahead while a response was in progress.
  private var kept: [UInt8] = []
  private var waitingStatus: Int?

  init(limits: ServerConnectionLimits = ServerConnectionLimits()) {
    connection = ServerConnection(limits: limits)
  }

  mutating func receive(_ bytes: ArraySlice<UInt8>) {
    guard !isClosed else { return }
    let input = kept + bytes
    kept = []
    input.withUnsafeBytes { raw in
      var offset = 0
      while !isClosed, step(raw, &offset) {}
      kept = Array(raw[offset...])
    }
  }

  /// Returns whether there may be more in the input.
  private mutating func step(_ input: UnsafeRawBufferPointer, _ offset: inout Int) -> Bool {
    switch connection.next(input, from: &offset) {
    case .needMore, .pause:
      return false
    case .content, .ignored:
      return true
    case .close:
      isClosed = true
      return false
    case .refuse(let error):
      finish(error.status)
      return false
    case .request:
      if connection.head.hasBody,
        let refusal = connection.allowContent(bytesMax: 1024 * 1024)
      {
        finish(refusal.status)
        return false
      }
      answer(connection.head.path.text == "/" ? 200 : 404)
      return true
    case .endOfRequest:
      guard let status = waitingStatus.take() else { return true }
      finish(status)
      return true
    }
  }

  private mutating func answer(_ status: Int) {
    switch connection.responseIsReady(isStreamed: false) {
    case .send: finish(status)
    case .waitForBody: waitingStatus = status
    case .discard: break
    }
  }

  private mutating func finish(_ status: Int) {
    statuses.append(status)
    switch connection.responseEnded() {
    case .nextRequest, .drain: break
    case .linger, .close: isClosed = true
    }
  }
}
