internal import Transport

/// A session that receives what `NOTIFY` sends to a channel, on a thread of its own. It connects again, with
/// growing pauses, until it is closed.
package final class PostgresListener: Sendable {
  package enum Event: Sendable {
    /// It listens from now on; what was sent before may be missed.
    case listening
    case notification(PostgresNotification)
    /// It does not listen, and tries again later.
    case lost(PostgresError)
  }

  private static let pauseMin = Duration.milliseconds(100)
  private static let pauseMax = Duration.seconds(3)

  private let address: PostgresAddress
  private let channel: String
  private let connectTimeMax: Duration
  private let report: @Sendable (Event) -> Void
  private let waker = PostgresWaker()
  private let thread = BlockingPool(threadsMax: 1)

  /// - Parameters:
  ///   - channel: at most 63 bytes.
  ///   - report: is called on the listener's thread and delays it.
  package init(
    _ address: PostgresAddress, channel: String, connectTimeMax: Duration,
    report: @escaping @Sendable (Event) -> Void
  ) {
    self.address = address
    self.channel = channel
    self.connectTimeMax = connectTimeMax
    self.report = report
  }

  /// Starts to listen. It is called once.
  package func start() {
    thread.submit { [self] in
      var pause = Self.pauseMin
      while !waker.isWoken {
        do throws(PostgresError) { try listen { pause = Self.pauseMin } } catch {
          report(.lost(error))
          waker.wait(atMost: pause)
          pause = min(pause * 2, Self.pauseMax)
        }
      }
    }
  }

  /// Ends the session soon.
  package func close() { waker.wake() }

  /// Returns once the listener is closed.
  private func listen(_ connected: () -> Void) throws(PostgresError) {
    let deadline = LoopClock.now() + connectTimeMax
    let session = try PostgresSession(
      address, statementTimeMax: connectTimeMax, deadline: deadline, waker: waker)
    defer { session.close() }
    _ = try session.query("LISTEN \(PostgresIdentifier(channel))", deadline: deadline)
    connected()
    report(.listening)
    while !waker.isWoken {
      for notification in try session.notifications(until: .distantFuture) {
        report(.notification(notification))
      }
    }
  }
}

/// A name within a statement, quoted.
package struct PostgresIdentifier: Hashable, Sendable, CustomStringConvertible {
  package let name: String

  package init(_ name: String) { self.name = name }

  package var description: String {
    "\"" + name.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"")
      + "\""
  }
}
