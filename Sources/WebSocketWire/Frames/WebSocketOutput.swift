/// Bytes to write to the connection, in one call.
package struct WebSocketOutput: Sendable, Equatable {
  package var head: [UInt8]
  /// A payload that is sent without a copy; empty if the head holds the whole frame.
  package var payload: [UInt8] = []

  package var count: Int { head.count + payload.count }
}
