import Cryptography
package import Model

/// Whatever has a stream of its own and can be a subject of a live stream.
package protocol LiveSource: Sendable {
  /// Starts the subject's own stream.
  ///
  /// - Parameters:
  ///   - position: the id of the last event that the client got of it; nil for none.
  ///   - isResumed: whether the client continues a former live stream. A stream without ids then begins
  ///     with a gap, since the client may have missed events.
  /// - Returns: what opens the stream, called by the task that reads it.
  func start(
    for caller: Caller, at position: String?, isResumed: Bool
  ) async throws(Failure) -> @Sendable () -> any EventSource
}

/// One subject of a live stream: a query, the changes since a cursor, a list.
package struct LiveSubject: Sendable {
  private static let digestByteCount = 8
  /// The approximate memory size of a subject beside its definition, and of each byte of that as values.
  private static let bytesASubject = 512
  private static let bytesADefinitionByte = 4

  /// Chosen by the client, different from that of all other subjects of the stream.
  package let id: String
  /// A digest of the id and what it shows: a position continues only the same subject.
  let digest: [UInt8]
  /// The approximate memory size of its definition.
  let byteCount: Int
  let source: any LiveSource

  /// - Parameter definition: what it shows, in any form that is the same for the same subject.
  package init(id: String, definition: [UInt8], source: any LiveSource) {
    self.id = id
    self.source = source
    byteCount = Self.bytesASubject + Self.bytesADefinitionByte * definition.count
    let text = Array("\(id.utf8.count):\(id)".utf8) + definition
    digest = Array(SHA256.hash(data: text).prefix(Self.digestByteCount))
  }

  /// A subject with its place in a request's body, for faults.
  package struct Requested: Sendable {
    package let subject: LiveSubject
    /// The JSON pointer of the subject.
    package let pointer: String

    package init(subject: LiveSubject, pointer: String) {
      self.subject = subject
      self.pointer = pointer
    }
  }
}
