import Synchronization
import Transport

/// The server's end of a WebSocket of a double: takes the client's messages, and holds the server's until
/// a test or a server sends them.
package final class FakeSocket: Sendable {
  package enum Output: Sendable, Equatable {
    case text([UInt8])
    case close(code: UInt16, reason: String)
  }

  private struct State {
    var outputs: [Output] = []
    var hasEnded = false
    var handler = Handler()
  }

  /// A mutex holds no closure of its own.
  private struct Handler {
    var received: (@Sendable (FakeSocket, [UInt8]) -> Void)?
    var ended: (@Sendable (FakeSocket) -> Void)?
  }

  /// The subprotocol that the double chose; nil for none.
  package let subprotocol: String?
  private let state = Mutex(State())
  private let signal = AsyncSignal()

  package init(subprotocol: String?) {
    self.subprotocol = subprotocol
  }

  /// Sets what happens with a message of the client, and after the end.
  package func use(
    received: @escaping @Sendable (FakeSocket, [UInt8]) -> Void,
    ended: @escaping @Sendable (FakeSocket) -> Void
  ) {
    state.withLock { $0.handler = Handler(received: received, ended: ended) }
  }

  package var hasEnded: Bool { state.withLock { $0.hasEnded } }

  // MARK: The double's side

  package func send(_ text: [UInt8]) {
    state.withLock { if !$0.hasEnded { $0.outputs.append(.text(text)) } }
    signal.notify()
  }

  package func close(_ code: UInt16, _ reason: String = "") {
    end(.close(code: code, reason: reason))
  }

  /// Loses the connection without a close.
  package func drop() { end(.close(code: 1006, reason: "")) }

  private func end(_ output: Output?) {
    let handler = state.withLock { state -> Handler? in
      guard !state.hasEnded else { return nil }
      state.hasEnded = true
      if let output { state.outputs.append(output) }
      return state.handler
    }
    signal.notify()
    handler?.ended?(self)
  }

  // MARK: The client's side

  /// A message of the client.
  package func receive(_ text: [UInt8]) {
    let handler = state.withLock { $0.hasEnded ? nil : $0.handler }
    handler?.received?(self, text)
  }

  /// The client has closed or lost the connection.
  package func leave() { end(nil) }

  /// Returns what the server sends next; nil once the client has left.
  package func next() async -> Output? {
    while true {
      let seen = signal.count
      let (output, hasEnded) = state.withLock { state in
        (state.outputs.isEmpty ? nil : state.outputs.removeFirst(), state.hasEnded)
      }
      if let output { return output }
      if hasEnded || Task.isCancelled { return nil }
      await signal.wait(after: seen)
    }
  }
}
