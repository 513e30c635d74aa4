import Cryptography
package import Model

/// Snapshots in pieces, each of which is an object: no store needs to take or give a whole database at once.
package struct SnapshotTransfer: Sendable {
  private static let pieceBytes = 8 << 20
  private static let indexAttempts = 5

  private let store: StandbyStore

  package init(_ store: StandbyStore) { self.store = store }

  /// A snapshot before it is stored.
  package struct Draft: Sendable {
    package let position: Int64
    /// The time of its last commit.
    package let at: Timestamp
    package let epoch: Int64
    /// See ``SnapshotIndex/Entry/segment``.
    package let segment: Int64
    package let made: Timestamp
    package let version: String

    package init(
      position: Int64, at: Timestamp, epoch: Int64, segment: Int64, made: Timestamp,
      version: String
    ) {
      self.position = position
      self.at = at
      self.epoch = epoch
      self.segment = segment
      self.made = made
      self.version = version
    }
  }

  private static func name(_ snapshot: String, _ piece: Int64) -> String {
    "snapshots/\(snapshot)/\(piece)"
  }

  /// Stores a snapshot. It is in the index once it is complete.
  ///
  /// - Parameter read: returns the next bytes of the file, up to a count; none at its end.
  /// - Returns: nil if the index was changed by another primary meanwhile.
  package func put(
    _ draft: Draft, read: (Int) async throws(StandbyError) -> [UInt8]
  ) async throws(StandbyError) -> SnapshotIndex.Entry? {
    let random = String(UInt64.random(in: 0...UInt64.max), radix: 16)
    let name = "\(draft.position)-\(draft.epoch)-\(random)"
    var hash = RunningHash<SHA256>()
    var (byteCount, pieceCount): (Int64, Int64) = (0, 0)
    while true {
      let piece = try await read(Self.pieceBytes)
      if piece.isEmpty { break }
      hash.update(data: piece)
      let object = Self.name(name, pieceCount)
      guard try await store.objects.make(object, try store.seal.seal(piece, as: object)) else {
        throw .faulty("\(object) was there already")
      }
      byteCount += Int64(piece.count)
      pieceCount += 1
    }
    let entry = SnapshotIndex.Entry(
      name: name, position: draft.position, at: draft.at, epoch: draft.epoch,
      segment: draft.segment, byteCount: byteCount, pieceCount: pieceCount,
      sha256: Array(hash.finalize()), made: draft.made, version: draft.version)
    for _ in 0..<Self.indexAttempts {
      let (index, version) = try await present()
      if let latest = index.latest, latest.epoch > entry.epoch { return nil }
      var next = index
      next.entries.append(entry)
      if try await store.replace(next, after: version) != nil { return entry }
    }
    throw .unavailable("the index of the snapshots is changed by others all the time")
  }

  private func present() async throws(StandbyError) -> (SnapshotIndex, String?) {
    let found = try await store.index()
    return (found.index, found.version)
  }

  /// Reads a snapshot, piece by piece.
  ///
  /// - Throws: ``StandbyError/faulty(_:)`` if it is not what was stored, and ``StandbyError/unavailable(_:)`` if it was
  ///   removed meanwhile.
  package func get(
    _ entry: SnapshotIndex.Entry, write: ([UInt8]) async throws(StandbyError) -> Void
  ) async throws(StandbyError) {
    var hash = RunningHash<SHA256>()
    var byteCount: Int64 = 0
    for piece in 0..<entry.pieceCount {
      let object = Self.name(entry.name, piece)
      guard let sealed = try await store.objects.read(object) else {
        throw .unavailable("the snapshot \(entry.name) was removed")
      }
      let bytes = try store.seal.open(sealed, as: object)
      hash.update(data: bytes)
      byteCount += Int64(bytes.count)
      try await write(bytes)
    }
    guard byteCount == entry.byteCount, Array(hash.finalize()) == entry.sha256 else {
      throw .faulty("the snapshot \(entry.name) is damaged")
    }
  }

  /// Removes snapshots and segments from which nothing after a moment is restored.
  ///
  /// The index stops naming them first: a reader that finds one missing reads the index again. What a crash leaves is
  /// removed the next time.
  package func removeOutdated(before limit: Timestamp) async throws(StandbyError) {
    let (index, version) = try await present()
    let outdated = index.outdated(before: limit)
    var next = index
    next.entries.removeFirst(outdated.count)
    next.doomed += outdated
    // The segment before the snapshot stays, so that the log always has one that says how far it goes.
    if let first = next.entries.first { next.floor = max(next.floor, first.segment - 1) }
    guard next.floor > next.removed || !next.doomed.isEmpty else { return }
    guard let named = try await store.replace(next, after: version) else { return }
    for number in stride(from: next.removed + 1, through: next.floor, by: 1) {
      try await store.removeSegment(number)
    }
    for entry in next.doomed {
      for piece in 0..<entry.pieceCount {
        try await store.objects.remove(Self.name(entry.name, piece))
      }
    }
    next.removed = next.floor
    next.doomed = []
    _ = try await store.replace(next, after: named.version)
  }
}
