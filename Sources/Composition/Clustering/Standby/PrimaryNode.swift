import FoundationEssentials
import Gateway
import Logging
import Model
import Standby
import Storage
import Synchronization
import Transport

/// This process as the primary of a warm standby: a single machine whose commits are also sent to the store that it
/// shares with its standby. It outlives deployments.
package final class PrimaryNode: Sendable {
  /// How long the last commits may take to be stored when the process ends.
  private static let endWithin = Duration.seconds(5)
  /// How often it is looked whether a snapshot is due, and the pause after one that failed.
  private static let lookInterval = Duration.seconds(10)
  private static let openingInterval = Duration.milliseconds(500)
  private static let pauseAfterFailure = Duration.seconds(60)

  private struct State {
    var store: Store?
    var tasks: [Task<Void, Never>] = []
    var isLost = false
  }

  private let assembly: StandbyAssembly
  private let settings: StandbySettings
  private let folder: DataFolder
  private let logger: Logger
  let sender: LogSender
  private let state = Mutex(State())
  /// Notified when this process must write no more.
  let lost: AsyncSignal

  /// - Parameters:
  ///   - lease: which was just taken, and after which nothing was written.
  ///   - last: the segment that was added under it.
  ///   - lastAt: the time of the last commit in the log.
  init(
    _ assembly: StandbyAssembly, _ settings: StandbySettings, folder: DataFolder,
    lease: VersionedLease, kept: Duration, last: LogSegment, lastAt: Timestamp, logger: Logger
  ) {
    self.assembly = assembly
    self.settings = settings
    self.folder = folder
    self.logger = logger
    let lost = AsyncSignal()
    self.lost = lost
    sender = LogSender(
      assembly.store, lease: lease, kept: kept, nextSegment: last.number + 1, notBefore: lastAt,
      settings: StandbyAssembly.senderSettings(settings), wall: SystemClock.wall,
      uptime: { SystemClock.uptime() },
      whenFenced: {
        logger.error("another machine has taken over: this one becomes its standby")
        lost.notify()
      })
  }

  /// Begins to renew the lease and to send commits.
  func start() {
    let tasks = [Task { await sender.run() }, Task { await keepSnapshots() }]
    state.withLock { $0.tasks = tasks }
  }

  /// The root secret of a new data folder.
  var rootBytes: [UInt8] { StandbyAssembly.rootBytes(settings) }

  /// The part of the store to be opened.
  var storeRole: StoreRole {
    let lease = sender.lease
    return .leader(cluster: lease.history, epoch: lease.epoch, log: SentLog(sender: sender))
  }

  /// Why the store could not be opened again if it were closed; nil if it could.
  var reasonToStayOpen: String? {
    sender.measures.isTaking ? nil : "writes are refused until \(assembly.store.place) responds"
  }

  /// Whether this process has found that it must write no more.
  var isLost: Bool { state.withLock { $0.isLost } || sender.isFenced }

  func noteOpened(_ store: Store) {
    state.withLock { $0.store = store }
    store.whenLeadingEnds { [weak self] error in
      guard let self else { return }
      logger.error(
        "nothing more is written: the service starts again", metadata: ["cause": "\(error)"])
      state.withLock { $0.isLost = true }
      lost.notify()
    }
  }

  var families: [MetricFamily] { ServiceMetrics.families(of: sender.measures) }

  func noteClosed() { state.withLock { $0.store = nil } }

  private var opened: Store? { state.withLock { $0.store } }

  /// Waits until the store has what the opening of the database has written, so that a later primary knows how far
  /// this one's time of writing goes.
  func settle() async throws(StartFailure) {
    var isFirst = true
    while await !sender.flush(upTo: sender.lastPosition, atMost: settings.lease) {
      guard !isLost else {
        throw StartFailure(.failed, "Another machine has taken over while this one started.")
      }
      if isFirst {
        logger.error(
          "waiting for the standby's store", metadata: ["store": "\(assembly.store.place)"])
      }
      isFirst = false
    }
  }

  /// Stores the last commits and releases the lease. The database must be closed.
  func end() async {
    let isStored = await sender.end(atMost: Self.endWithin)
    let tasks = state.withLock { state in
      defer { state.tasks = [] }
      return state.tasks
    }
    for task in tasks { task.cancel() }
    for task in tasks { await task.value }
    if !isStored, !isLost {
      logger.error(
        """
        the last commits are not in the standby's store, and the lease is not released; start this machine again, or \
        the standby takes over without them
        """, metadata: ["store": "\(assembly.store.place)"])
    }
    await assembly.close()
  }

  // MARK: Snapshots

  private func keepSnapshots() async {
    while !Task.isCancelled {
      var pause = opened == nil ? Self.openingInterval : Self.lookInterval
      do {
        try await makeSnapshotIfDue()
      } catch {
        if Task.isCancelled { return }
        logger.error("no snapshot could be stored", metadata: ["cause": "\(error)"])
        pause = Self.pauseAfterFailure
      }
      try? await Task.sleep(for: pause)
    }
  }

  /// Stores a snapshot if there is none that is new enough, and removes what is too old.
  func makeSnapshotIfDue() async throws {
    guard let store = opened, !isLost else { return }
    let index = try await assembly.store.index().index
    guard isDue(index.latest, store) else { return }
    let file = "\(folder.path)/larder.snapshot.new"
    defer { try? FileManager.default.removeItem(atPath: file) }
    try? FileManager.default.removeItem(atPath: file)
    // Before the copy: all commits after it are in later segments.
    let segment = sender.lastSegment
    let position = try await store.writeSnapshot(to: file)
    let at = sender.now
    // A snapshot must not be further than the log.
    guard await sender.flush(upTo: position, atMost: settings.lease) else {
      throw StandbyError.unavailable("the commits before the snapshot could not be stored")
    }
    let reader = try SnapshotFileReader(file)
    let transfer = SnapshotTransfer(assembly.store)
    let draft = SnapshotTransfer.Draft(
      position: position, at: at, epoch: sender.lease.epoch, segment: segment,
      made: SystemClock.wall.now(), version: Version.text)
    let entry = try await transfer.put(draft) { count throws(StandbyError) in
      try reader.next(count)
    }
    guard let entry else { return }
    logger.info(
      "snapshot stored",
      metadata: ["position": "\(entry.position)", "bytes": "\(entry.byteCount)"])
    let age = settings.keep
    try await transfer.removeOutdated(
      before: SystemClock.wall.now().advanced(by: .zero - age))
  }

  private func isDue(_ latest: SnapshotIndex.Entry?, _ store: Store) -> Bool {
    guard let latest else { return true }
    // Another primary's: what this one has not got from the log is in no snapshot.
    if latest.position < store.resetPosition { return true }
    guard latest.position < store.position else { return false }
    return latest.made.distance(to: SystemClock.wall.now()) > settings.snapshotInterval
  }
}

/// Reads a snapshot's file from its start. Its calls block.
private final class SnapshotFileReader: Sendable {
  private let path: String
  private let file: OpenFile
  private let offset = Mutex(0)

  init(_ path: String) throws(StandbyError) {
    self.path = path
    do throws(SystemError) { file = try OpenFile(path: path) } catch {
      throw .faulty("cannot read the snapshot \(path): \(error)")
    }
  }

  func next(_ count: Int) throws(StandbyError) -> [UInt8] {
    let start = offset.withLock { $0 }
    do throws(SystemError) {
      let bytes = try file.read(count, from: start)
      offset.withLock { $0 = start + bytes.count }
      return bytes
    } catch {
      throw .faulty("cannot read the snapshot \(path): \(error)")
    }
  }
}

/// The log of a primary's store.
private struct SentLog: CommitLog {
  let sender: LogSender

  func append(_ payload: [UInt8], at position: Int64) throws(CommitLogError) {
    do throws(CommitRefusal) {
      try sender.append(payload, at: position)
    } catch {
      switch error {
      case .unavailable(let reason): throw .unavailable(reason)
      case .fenced: throw .notLeader
      }
    }
  }
}
