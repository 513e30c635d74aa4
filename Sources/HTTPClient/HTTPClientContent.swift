/// A request's content that is read while it is sent, so that it is never whole in memory.
///
/// It is read once: such a request is never sent a second time.
package struct HTTPClientContent: Sendable {
  package enum Step: Sendable {
    case piece([UInt8])
    /// No more will come. Where that is too early, the connection is reset, so that the upstream
    /// does not take the beginning for the whole.
    case end
  }

  /// Bytes there will be; at least one.
  package let byteCount: Int
  /// Asked for the next piece once there is room for it.
  package let next: @Sendable () async -> Step

  package init(byteCount: Int, next: @escaping @Sendable () async -> Step) {
    self.byteCount = byteCount
    self.next = next
  }
}
