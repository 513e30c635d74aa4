package import Model

/// How much the queues of all devices hold.
package struct QueueLoad: Hashable, Sendable {
  /// Mutations that go by themselves, waiting or in flight.
  package let pending: Int
  package let parked: Int
  /// When the oldest of the pending ones was enqueued.
  package let oldest: Timestamp?
}
