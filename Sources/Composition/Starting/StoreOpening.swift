import Logging
import Model
import Storage

/// Opens the store, and waits for the process that still holds it.
///
/// A draining service holds its data until it has answered the requests it accepted, so its successor
/// can be started at once: it prepares everything else, waits here, and only then listens. The other
/// order would accept connections that cannot be served yet.
struct StoreOpening {
  /// Pause between two attempts; each itself waits for the lock for a moment.
  private static let pause = Duration.milliseconds(50)

  let folder: String
  /// The name in the folder's marker; nil without one.
  let markerName: String?
  let types: [EntityType]
  let local: LocalSchema
  /// Maximum wait for the folder.
  let patience: Duration
  /// Released if the disk is full; nil if a full disk ends the start.
  let reserve: DiskReserve?
  /// The part of the store in a cluster.
  var role = StoreRole.alone
  let logger: Logger

  /// - Throws: ``StartFailure`` if the folder is still held after the wait, or cannot be used.
  func open() async throws -> Store {
    var isReleased = false
    let deadline = ContinuousClock.now + patience
    var isFirst = true
    while true {
      do throws(StorageError) {
        let store = try openNow()
        // Otherwise each start on a full disk would leave the log a little larger.
        if isReleased { store.truncateLog() }
        reserve?.take()
        return store
      } catch {
        // The folder is locked by this process at this point: the lock comes first.
        if !isReleased, let reserve, reserve.mayHelp(against: error),
          reserve.release(logger: logger)
        {
          isReleased = true
          continue
        }
        guard case .inUse = error, ContinuousClock.now < deadline else {
          if isReleased { reserve?.take() }
          throw StartFailure(.dataFolder, StorageStartError.text(error, folder: folder))
        }
      }
      if isFirst { logWait() }
      isFirst = false
      try await Task.sleep(for: Self.pause)
    }
  }

  private func openNow() throws(StorageError) -> Store {
    var configuration = StoreConfiguration(
      folder: folder, segment: UInt64.random(in: 1...UInt64.max),
      opened: SystemClock.wall.now())
    configuration.local = local
    configuration.folderMarker = markerName
    configuration.role = role
    return try Store.open(configuration, types: types)
  }

  private func logWait() {
    logger.warning(
      "waiting for the data folder, which another process holds",
      metadata: ["folder": "\(folder)", "patience": "\(DurationText.print(patience))"])
  }
}
