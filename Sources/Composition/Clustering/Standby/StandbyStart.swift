import Cluster
import FoundationEssentials
import Gateway
import Logging
import Model
import Standby
import Storage
import Transport

/// Follows the primary until this machine is the primary itself.
///
/// One task does one thing after the other: read the lease, apply what there is, take the lease if it has ended.
struct StandbyStart {
  /// Pause after an error of the store, and while another machine must act first.
  private static let pause = Duration.milliseconds(500)

  let assembly: StandbyAssembly
  let settings: Settings
  let folder: DataFolder
  let identity: LeaseTaking.Identity
  /// Whether this machine begins no history and leaves the lease to a primary that starts at the same time.
  let isStandby: Bool
  let state: StandbyState
  let environment: [String: String]
  let logger: Logger

  private var standby: StandbyStore { assembly.store }

  private var taking: LeaseTaking {
    LeaseTaking(
      standby, identity, duration: settings.standby.lease, wall: SystemClock.wall)
  }

  // MARK: Loop

  /// Returns once this machine leads. The data folder is closed then, and is at the end of the log.
  ///
  /// - Throws: ``StartFailure`` for what an operator must mend, and `CancellationError`.
  func run() async throws -> PrimaryNode {
    var follower: LogFollower?
    defer { follower?.close() }
    var watch = LeaseWatch()
    // Until it has, what is wrong is a fault of the settings.
    var hasReadOnce = false
    var lastNote = ""
    while true {
      try Task.checkCancellation()
      do {
        if !hasReadOnce { try await standby.probe() }
        let seen = try await standby.lease()
        hasReadOnce = true
        note(seen)
        let isEnded = isEnded(seen, &watch)
        if follower == nil {
          switch try await place(seen, isEnded: isEnded) {
          case .follow(let segment):
            follower = try LogFollower(standby, folder: folder, after: segment, logger: logger)
          case .lead:
            if let primary = try await lead(after: seen, follower: nil) { return primary }
          case .wait(let reason):
            if reason != lastNote { logger.notice("\(reason)") }
            lastNote = reason
            state.set { $0.phase = reason }
            try await Task.sleep(for: Self.pause)
          }
          continue
        }
        guard let current = follower else { continue }
        switch try await followOnce(current) {
        case .needsSnapshot:
          guard try await replaceDatabase(current, &follower, &lastNote) else {
            try await Task.sleep(for: Self.pause)
            continue
          }
        case .applied, .atEnd:
          lastNote = ""
          if isEnded, let seen {
            follower = nil
            if let primary = try await lead(after: seen, follower: current) { return primary }
            watch = LeaseWatch()
          } else {
            try await Task.sleep(for: settings.standby.segmentInterval)
          }
        }
      } catch let error as StandbyError {
        watch.forget()
        if !hasReadOnce, case .faulty(let reason) = error {
          throw StartFailure(.faultySettings, "The standby cannot be used: \(reason).")
        }
        if "\(error)" != lastNote {
          logger.error("the standby's store cannot be used", metadata: ["cause": "\(error)"])
        }
        lastNote = "\(error)"
        state.set { $0.phase = "waiting for the store: \(error)" }
        try await Task.sleep(for: Self.pause)
      } catch let error as StorageError {
        // A full disk, for example.
        follower?.close()
        follower = nil
        if "\(error)" != lastNote {
          logger.error("the log cannot be applied", metadata: ["cause": "\(error)"])
        }
        lastNote = "\(error)"
        state.set { $0.phase = "the log cannot be applied: \(error)" }
        try await Task.sleep(for: Self.pause)
      }
    }
  }

  private func note(_ seen: VersionedLease?) {
    state.set { values in
      values.primary = seen.flatMap { $0.lease.isReleased ? nil : $0.lease.host }
      values.epoch = seen?.lease.epoch ?? 0
    }
  }

  /// Whether the machine that holds the lease writes no more.
  private func isEnded(_ seen: VersionedLease?, _ watch: inout LeaseWatch) -> Bool {
    guard let seen else { return false }
    if seen.lease.isReleased { return true }
    // An earlier process of this machine: the folder is locked, so that it has ended. With another host's name it can be
    // a machine that runs, of whose folder this one is a copy.
    if seen.lease.holder == identity.node, seen.lease.host == identity.host { return true }
    return watch.isExpired(seen, at: SystemClock.uptime())
  }

  /// Applies all that is there.
  private func followOnce(_ follower: LogFollower) async throws -> LogFollower.Step {
    while true {
      let step = try await follower.step()
      state.set { values in
        values.position = follower.position
        if step == .atEnd { values.caughtUp = SystemClock.uptime() }
        values.phase = step == .needsSnapshot ? "waiting for a snapshot" : "following"
      }
      guard step == .applied else { return step }
      try Task.checkCancellation()
    }
  }

  // MARK: Place

  private enum Place {
    case follow(after: Int64)
    case lead
    case wait(String)
  }

  /// Decides what to do with the folder as it is.
  private func place(_ seen: VersionedLease?, isEnded: Bool) async throws -> Place {
    let own = try position()
    guard let seen else {
      if own != nil {
        throw StartFailure(
          .dataFolder,
          "The data folder \(folder.path) has a database with a standby, and there is nothing in \(standby.place). Is it "
            + "the right place, and mounted? To begin a new history there, run `larder standby leave` first."
        )
      }
      return isStandby
        ? .wait("waiting for the primary, which begins the history: start it without --standby")
        : .lead
    }
    let index = try await standby.index().index
    let last = try await LogSearch(standby).last(after: index.floor)
    // At 0 its opening was interrupted before it wrote anything.
    guard let own, own.position > 0 else {
      return try await placeWithoutHistory(seen.lease, index, last, isEnded: isEnded)
    }
    guard own.cluster == seen.lease.history else {
      throw StartFailure(
        .dataFolder,
        "The data folder \(folder.path) belongs to another history than \(standby.place). Set the right place, or "
          + "another folder with `data`.")
    }
    state.set { $0.position = own.position }
    if own.position > last?.last ?? 0 || own.isDiverged,
      seen.lease.hasOnlyWriter(identity.node, since: own.epoch)
    {
      // Nothing is newer than what it has.
      return isEnded ? .lead : .wait("waiting for the lease of a machine that does not write")
    }
    switch try await FolderPlace(standby: standby).find(own, index, last: last) {
    case .fits(let segment):
      try checkKey()
      return .follow(after: segment)
    case .ahead:
      logger.error(
        """
        the database has commits that the log does not have: they are kept in a file beside it, and it starts again \
        from a snapshot
        """,
        metadata: ["position": "\(own.position)", "log": "\(last?.last ?? 0)"])
      return try await fetch(index, aside: own.position)
    case .tooOld:
      logger.notice(
        "the log does not go back to the database, which starts again from a snapshot",
        metadata: ["position": "\(own.position)"])
      return try await fetch(index, aside: nil)
    }
  }

  /// For a folder without a database, or with that of a single machine.
  private func placeWithoutHistory(
    _ lease: StandbyLease, _ index: SnapshotIndex, _ last: LogSegment?, isEnded: Bool
  ) async throws -> Place {
    let isEmpty = index.entries.isEmpty && last?.last ?? 0 == 0
    if isEmpty, isEnded, !isStandby || lease.holder == identity.node { return .lead }
    guard !Store.hasDatabase(folder: folder.path) else {
      throw StartFailure(
        .dataFolder,
        "The data folder \(folder.path) has data of a single machine, and \(standby.place) has a history already. Set an "
          + "empty folder with `data` to follow it, or another `standby.name` to begin one with this data."
      )
    }
    return try await fetch(index, aside: nil)
  }

  /// Fetches the latest snapshot, and puts it in the place of the database, which is closed.
  private func fetch(_ index: SnapshotIndex, aside: Int64?) async throws -> Place {
    guard let entry = index.latest else {
      return .wait("waiting for the primary's first snapshot")
    }
    try await SnapshotFetch(standby: standby, folder: folder, logger: logger).run(
      entry, aside: aside)
    try checkKey()
    return .follow(after: entry.segment)
  }

  /// Starts again from a snapshot that has what the follower cannot apply.
  ///
  /// - Returns: false if there is none yet.
  private func replaceDatabase(
    _ current: LogFollower, _ follower: inout LogFollower?, _ lastNote: inout String
  ) async throws -> Bool {
    let index = try await standby.index().index
    guard let entry = index.latest, entry.position > current.position else {
      let note = "waiting for a snapshot that the log goes on from"
      if note != lastNote {
        logger.error("\(note)", metadata: ["position": "\(current.position)"])
      }
      lastNote = note
      return false
    }
    current.close()
    follower = nil
    try await SnapshotFetch(standby: standby, folder: folder, logger: logger).run(
      entry, aside: nil)
    follower = try LogFollower(standby, folder: folder, after: entry.segment, logger: logger)
    return true
  }

  private func position() throws(StartFailure) -> ClusterPosition? {
    do throws(StorageError) {
      return try Store.clusterPosition(folder: folder.path)
    } catch {
      throw StartFailure(.dataFolder, StorageStartError.text(error, folder: folder.path))
    }
  }

  /// Checks now that this machine can open the secrets in the database, and not when it takes over.
  private func checkKey() throws(StartFailure) {
    let marker: StoreMarker?
    do throws(StorageError) { marker = try Store.marker(folder: folder.path) } catch {
      throw StartFailure(.dataFolder, StorageStartError.text(error, folder: folder.path))
    }
    guard let marker else { return }
    let root =
      try folder.keyIfAny(environment: environment)
      ?? StandbyAssembly.rootBytes(settings.standby)
    guard KeyRing(root: root).digest != marker.keyDigest else { return }
    throw StartFailure(
      .faultySettings,
      "The key of this machine is not that of the primary, so it could not take over. Copy \(DataFolder.keyFileName) from "
        + "the primary's data folder to \(folder.path), or set LARDER_KEY to the same on both.")
  }

  // MARK: Leading

  /// Takes the lease, and brings the folder to the end of the log, which is final then.
  ///
  /// - Parameter follower: closed here; nil if the folder is to be opened as it is.
  /// - Returns: nil if another machine was quicker, or this one cannot lead.
  private func lead(
    after seen: VersionedLease?, follower: LogFollower?
  ) async throws -> PrimaryNode? {
    var follower = follower
    defer { follower?.close() }
    var lastAt = Timestamp(milliseconds: 0)
    let asked = SystemClock.uptime()
    guard let lease = try await taking.take(after: seen, history: RandomName.make()) else {
      return nil
    }
    do {
      let index = try await standby.index().index
      // A segment that is there: it says how far the log goes.
      let floor = max(index.floor, (follower?.segment ?? 0) - 1)
      let last = try await LogSearch(standby).last(after: floor)
      let fence = try await taking.fence(lease.lease, after: last, floor: floor)
      if let current = follower {
        lastAt = current.lastAt
        while current.segment < fence.number {
          guard try await current.step() == .applied else {
            throw StandbyError.unavailable(
              "the end of the log needs a snapshot that was not stored")
          }
        }
        lastAt = max(lastAt, current.lastAt)
        current.close()
        follower = nil
      }
      try settle(at: fence)
      guard let claimed = try await standby.replace(lease.lease.claimed, after: lease.version)
      else { return nil }
      let primary = PrimaryNode(
        assembly, settings.standby, folder: folder, lease: claimed, kept: asked, last: fence,
        lastAt: max(lastAt, last?.commits.last?.at ?? lastAt), logger: logger)
      logger.notice(
        "this machine is the primary",
        metadata: ["epoch": "\(lease.lease.epoch)", "position": "\(fence.last)"])
      return primary
    } catch {
      await giveBack(lease)
      throw error
    }
  }

  /// Checks that the database ends where the log does. One that goes on after it, because its last commits were not sent
  /// before a crash, tells followers to start again.
  private func settle(at fence: LogSegment) throws {
    guard let own = try position() else { return }
    guard own.position != fence.last || own.isDiverged else { return }
    guard own.position >= fence.last else {
      throw StandbyError.unavailable(
        "the log goes on to \(fence.last) and the database to \(own.position)")
    }
    logger.notice(
      "commits of the former run were not sent: the standby starts again from a snapshot",
      metadata: ["position": "\(own.position)", "log": "\(fence.last)"])
    do throws(StorageError) { try Store.markDiverged(folder: folder.path) } catch {
      throw StartFailure(.dataFolder, StorageStartError.text(error, folder: folder.path))
    }
  }

  private func giveBack(_ lease: VersionedLease) async {
    var released = lease.lease
    released.isReleased = true
    released.renewal += 1
    _ = try? await standby.replace(released, after: lease.version)
  }
}
