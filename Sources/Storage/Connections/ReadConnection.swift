import GRDB

/// A read-only connection, and where its functions find the watch of the query that runs.
struct ReadConnection: Sendable {
  let queue: DatabaseQueue
  let slot: WatchSlot
}
