package import Model

/// Takes the lease, and ends the log of the machine that had it before.
package struct LeaseTaking: Sendable {
  package struct Identity: Sendable {
    package let node: String
    /// The name of the machine, for people.
    package let host: String
    /// Of Larder.
    package let version: String

    package init(node: String, host: String, version: String) {
      self.node = node
      self.host = host
      self.version = version
    }
  }

  private let store: StandbyStore
  private let identity: Identity
  private let duration: Duration
  private let wall: WallClock

  package init(
    _ store: StandbyStore, _ identity: Identity, duration: Duration, wall: WallClock
  ) {
    self.store = store
    self.identity = identity
    self.duration = duration
    self.wall = wall
  }

  /// Takes the lease after one that was seen, whether that has ended or not.
  ///
  /// - Parameters:
  ///   - seen: nil if there has never been one; then a history begins.
  ///   - history: the name of a history that begins.
  /// - Returns: nil if another machine was quicker.
  package func take(
    after seen: VersionedLease?, history: String
  ) async throws(StandbyError) -> VersionedLease? {
    let lease = StandbyLease(
      history: seen?.lease.history ?? history, epoch: (seen?.lease.epoch ?? 0) + 1,
      holder: identity.node, host: identity.host, version: identity.version, duration: duration,
      renewed: wall.now(), after: seen?.lease)
    return try await store.replace(lease, after: seen?.version)
  }

  /// Adds a segment without commits under a lease that was just taken. No segment of a former primary can follow it.
  ///
  /// - Parameters:
  ///   - last: the last segment that was seen; nil if there is none.
  ///   - floor: the number of a segment before all that are there.
  /// - Returns: the segment that was added. Those before it can be more than were seen.
  package func fence(
    _ lease: StandbyLease, after last: LogSegment?, floor: Int64
  ) async throws(StandbyError) -> LogSegment {
    var (number, position) = (last?.number ?? floor, last?.last ?? 0)
    while true {
      let segment = LogSegment(
        number: number + 1, epoch: lease.epoch, first: position + 1, commits: [])
      switch try await store.add(segment) {
      case .added:
        // A number is free again once its segment is removed, which the index says before.
        guard try await store.index().index.floor < segment.number else {
          throw .faulty(
            "the log in \(store.place) goes on after segment \(number), whose followers were removed: a snapshot is needed"
          )
        }
        return segment
      case .taken(let found): (number, position) = (found.number, found.last)
      }
    }
  }
}
