import Model

/// Waits for the end of a connection's caller: the user's token expires, the account is disabled, the device is
/// removed or gets another token, or the service drains.
package final class ConnectionWatch: Sendable {
  package enum End: Sendable {
    /// The service is shutting down.
    case drained
    /// The caller's time is over, or the device's token is no longer valid.
    case over
  }

  private let signal: CommitSignal
  private let listener: ChangeListener

  /// - Parameter lifetime: nil for no limit.
  init(signal: CommitSignal, device: String?, user: String?, lifetime: Duration?) {
    self.signal = signal
    // No commit wakes it: it reads nothing.
    listener = signal.listen(as: Viewer(layers: []), device: device, user: user, lifetime: lifetime)
  }

  deinit { signal.remove(listener) }

  /// Waits for the end. One task can wait; its cancellation is an end too.
  package func end() async -> End {
    while true {
      if await listener.next().contains(.end) { return signal.hasEnded ? .drained : .over }
    }
  }
}
