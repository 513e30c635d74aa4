import Logging
import Model
import Storage

/// Opens the store, and waits for the process that still holds it.
///
/// A service that was told to end holds its data until it has answered what it took in, so its
/// successor may be started at once: it gets everything else ready, waits here, and listens only
/// then. The other order would take connections that nobody can answer yet.
struct StoreOpening {
  /// Between two tries. Each looks at the lock for a moment itself.
  private static let pause = Duration.milliseconds(50)

  let folder: String
  /// Of the folder's marker; nil where it has none.
  let markerName: String?
  let types: [EntityType]
  let local: LocalSchema
  /// Until the folder is given up.
  let patience: Duration
  /// Given up where the disk turns out to be full; nil where that ends the start.
  let reserve: DiskReserve?
  let logger: Logger

  /// - Throws: ``StartFailure`` where the folder is still held after the wait, or cannot be used.
  func open() async throws -> Store {
    var isReleased = false
    let deadline = ContinuousClock.now + patience
    var isFirst = true
    while true {
      do throws(StorageError) {
        let store = try openNow()
        // Else each start on a full disk would leave a little more in the log than the last one.
        if isReleased { store.truncateLog() }
        reserve?.take()
        return store
      } catch {
        // By then the folder is this process's: the lock comes first.
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
      if isFirst { tellOfTheWait() }
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
    return try Store.open(configuration, types: types)
  }

  private func tellOfTheWait() {
    logger.warning(
      "waiting for the data folder, which another process holds",
      metadata: ["folder": "\(folder)", "patience": "\(DurationText.print(patience))"])
  }
}
