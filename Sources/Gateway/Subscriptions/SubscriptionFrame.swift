package import Model
import Synchronization

/// What a client of a subscription is told.
package enum SubscriptionFrame: Sendable {
  /// A rendered response, `{"data":…}`.
  case next([UInt8])
  /// Events may be missing before the next one.
  case gap
  /// Upstream ended the subscription; the last frame.
  case complete
  /// The last frame.
  case error(Failure)
  case heartbeat
}

/// Events that were stored together, rendered once for all clients.
package final class EventBatch: Sendable {
  /// The rendered responses, in upstream's order.
  package let bodies: [[UInt8]]
  let byteCount: Int
  private let frames = Mutex<[UInt8]?>(nil)
  private let outstanding = Atomic(0)
  private let whenDelivered: @Sendable () -> Void

  /// - Parameter whenDelivered: called when the last client has taken the events or will never.
  init(_ bodies: [[UInt8]], whenDelivered: @escaping @Sendable () -> Void = {}) {
    self.bodies = bodies
    byteCount = bodies.reduce(0) { $0 + $1.count }
    self.whenDelivered = whenDelivered
  }

  /// The server-sent events of all bodies, created on first use: the same bytes for every client.
  ///
  /// They are created outside the lock, twice if need be: readers run on event loops, and must not wait for
  /// one another.
  package var eventFrames: [UInt8] {
    if let made = frames.withLock({ $0 }) { return made }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(byteCount + 24 * bodies.count)
    for body in bodies { EventFrame.append(id: nil, event: "next", data: body, to: &bytes) }
    frames.withLock { $0 = bytes }
    return bytes
  }

  /// Sets the number of clients that get the events, before the first one does.
  func expect(_ count: Int) { outstanding.store(count, ordering: .releasing) }

  /// Records that one client has taken the events or will never.
  func noteDelivered() {
    if outstanding.wrappingSubtract(1, ordering: .acquiringAndReleasing).newValue == 0 {
      whenDelivered()
    }
  }
}
