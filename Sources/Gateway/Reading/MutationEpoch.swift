import Synchronization

/// Counts what settled (mutations, purges): a read that comes after one does not join a flight
/// that began before it, so a client reads its own writes.
package final class MutationEpoch: Sendable {
  private let count = Atomic<Int64>(0)

  package init() {}

  package var value: Int64 { count.load(ordering: .acquiring) }

  package func advance() {
    count.wrappingAdd(1, ordering: .acquiringAndReleasing)
  }
}
