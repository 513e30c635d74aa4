/// Writes the body of one answer.
///
/// It exists for the length of one closure and cannot be copied, so nothing can write behind the
/// answer's end.
package struct ResponseWriter: ~Copyable {
  /// Why nothing more can be written.
  package enum Fault: Error, Sendable, Hashable {
    /// The connection is gone, or the client did not take what was written in time.
    case disconnected
    /// More bytes than were announced.
    case tooMuch
  }

  private let session: ServerSession

  init(session: ServerSession) {
    self.session = session
  }

  /// Has the connection closed once the client has taken nothing for this long while something
  /// waits for it; holds for this answer, in place of the server's own limit.
  package mutating func limitStall(to duration: Duration) {
    session.exchange?.writeStallMax = duration
  }

  /// Writes content, and waits while the client lags.
  package mutating func write(_ bytes: [UInt8]) async throws(Fault) {
    try await session.writeContent(bytes)
  }

  /// Writes text as UTF-8.
  package mutating func write(_ text: String) async throws(Fault) {
    try await write(Array(text.utf8))
  }
}
