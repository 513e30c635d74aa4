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
  /// Whether a full disk ends the start.
  let degraded: StartSettings.Degraded
  let logger: Logger

  /// - Throws: ``StartFailure`` where the folder is still held after the wait, or cannot be used.
  func open() async throws -> Store {
    guard degraded == .allow else { return try await openWhenFree(reserve: nil) }
    return try await openWhenFree(reserve: DiskReserve(folder: folder))
  }

  /// - Parameter reserve: given up where the disk turns out to be full: by then the folder is this
  ///   process's, since the lock comes first.
  private func openWhenFree(reserve: DiskReserve?) async throws -> Store {
    var isReleased = false
    defer { reserve?.take() }
    let deadline = ContinuousClock.now + patience
    var isFirst = true
    while true {
      do throws(StorageError) {
        let store = try openNow()
        // Else each start on a full disk would leave a little more in the log than the last one.
        if isReleased { store.truncateLog() }
        return store
      } catch {
        if !isReleased, let reserve, reserve.mayHelp(against: error),
          reserve.release(logger: logger)
        {
          isReleased = true
          continue
        }
        guard case .inUse = error, ContinuousClock.now < deadline else {
          throw StartFailure(.dataFolder, StorageComplaint.text(error, folder: folder))
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
