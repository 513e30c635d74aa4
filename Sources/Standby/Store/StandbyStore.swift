/// The lease, the log and the snapshots of a warm standby, sealed, in objects that both machines reach.
package struct StandbyStore: Sendable {
  let objects: any SharedObjects
  let seal: ObjectSeal

  package init(_ objects: any SharedObjects, seal: ObjectSeal) {
    self.objects = objects
    self.seal = seal
  }

  package var place: String { objects.place }

  // MARK: Lease

  /// Returns the lease; nil before the first.
  package func lease() async throws(StandbyError) -> VersionedLease? {
    guard let state = try await objects.register(StandbyLease.name) else { return nil }
    return VersionedLease(
      lease: try StandbyLease(try seal.open(state.bytes, as: StandbyLease.name)),
      version: state.version)
  }

  /// Replaces the lease.
  ///
  /// - Parameter version: of the one that was seen; nil if there was none.
  /// - Returns: nil if there is another one by now.
  package func replace(
    _ lease: StandbyLease, after version: String?
  ) async throws(StandbyError) -> VersionedLease? {
    let bytes = try seal.seal(lease.bytes, as: StandbyLease.name)
    if let made = try await objects.replace(StandbyLease.name, with: bytes, after: version) {
      return VersionedLease(lease: lease, version: made)
    }
    // An earlier attempt of this call may have done it.
    guard let found = try await self.lease(), found.lease == lease else { return nil }
    return found
  }

  // MARK: Log

  /// Returns a segment; nil if there is none of the number.
  package func segment(_ number: Int64) async throws(StandbyError) -> LogSegment? {
    let name = LogSegment.name(number)
    guard let sealed = try await objects.read(name) else { return nil }
    let segment = try LogSegment(try seal.open(sealed, as: name))
    guard segment.number == number else { throw .faulty("\(name) is another segment") }
    return segment
  }

  package enum Addition: Hashable, Sendable {
    case added
    /// There is another one of the same number.
    case taken(LogSegment)
  }

  /// Adds a segment, whose number must be the next one. The same can be repeated with the same segment.
  package func add(_ segment: LogSegment) async throws(StandbyError) -> Addition {
    let name = LogSegment.name(segment.number)
    if try await objects.make(name, try seal.seal(segment.bytes, as: name)) { return .added }
    guard let found = try await self.segment(segment.number) else {
      throw .unavailable("\(name) was there and is gone")
    }
    return found == segment ? .added : .taken(found)
  }

  func removeSegment(_ number: Int64) async throws(StandbyError) {
    try await objects.remove(LogSegment.name(number))
  }

  // MARK: Snapshots

  package func index() async throws(StandbyError) -> VersionedIndex {
    guard let state = try await objects.register(SnapshotIndex.name) else {
      return VersionedIndex(index: SnapshotIndex(), version: nil)
    }
    return VersionedIndex(
      index: try SnapshotIndex(try seal.open(state.bytes, as: SnapshotIndex.name)),
      version: state.version)
  }

  /// - Returns: nil if it was replaced since it was read.
  func replace(
    _ index: SnapshotIndex, after version: String?
  ) async throws(StandbyError) -> VersionedIndex? {
    let bytes = try seal.seal(index.bytes, as: SnapshotIndex.name)
    if let made = try await objects.replace(SnapshotIndex.name, with: bytes, after: version) {
      return VersionedIndex(index: index, version: made)
    }
    let found = try await self.index()
    return found.index == index ? found : nil
  }

  // MARK: Conditions

  /// Tries whether the store decides between writers, on which everything rests: some S3-compatible services ignore
  /// the conditions of writes.
  package func probe() async throws(StandbyError) {
    let name = "probe/\(UInt64.random(in: 0...UInt64.max))"
    guard try await objects.make(name, [1]), try await !objects.make(name, [2]),
      try await objects.read(name) == [1]
    else { throw lacksConditions("If-None-Match") }
    try await objects.remove(name)
    let register = "probe/register"
    for _ in 0..<Self.probesMax {
      let seen = try await objects.register(register)
      guard
        let next = try await objects.replace(
          register, with: [UInt8.random(in: 0...255), UInt8.random(in: 0...255)],
          after: seen?.version)
        // The other machine does the same at this moment.
      else { continue }
      guard try await objects.replace(register, with: [0], after: "0-\(next)") == nil else {
        throw lacksConditions("If-Match")
      }
      return
    }
    throw .unavailable("\(place) refuses each change of an object that others change as well")
  }

  private static let probesMax = 5

  private func lacksConditions(_ field: String) -> StandbyError {
    .faulty(
      "\(place) ignores conditional writes (\(field)), without which two machines could both write; use a service that "
        + "has them, or a folder")
  }
}

/// The index with the version of the register that holds it; nil before the first.
package struct VersionedIndex: Hashable, Sendable {
  package let index: SnapshotIndex
  let version: String?
}
