package import Cryptography
import HTTPWire
package import Model
package import Storage
package import Transport

/// A file store with objects as files on this machine's disk, and their index in the database.
///
/// Content is written to a new file with a random name and synced; only then does one transaction of
/// the index make it the object's. So a crash leaves either the old object or the new one. Files that
/// the transaction replaces are recorded in it, and removed at once or by the sweep.
package struct DiskFileStore: Sendable {
  let store: Store
  let folder: BlobFolder
  let pool: BlockingPool
  let clock: WallClock
  /// The clock by which uploads age, see ``sweep(uploadsBegunBefore:)``.
  let expiryClock: WallClock
  let random: @Sendable () -> UInt64
  let limits: DiskFileLimits
  let active = ActiveBlobs()

  /// Opens the store, and creates missing folders. Blocks.
  ///
  /// - Parameters:
  ///   - folder: on one file system, for this store only.
  ///   - pool: for writing, hashing and syncing; its threads are busy for that time.
  ///   - expiryClock: stamps uploads; sweeps must use moments of the same clock.
  ///   - random: a new, unguessable number for each call.
  ///   - key: encrypts all files; nil to store them as they are. Files that are stored in the other form, or
  ///     with another key, are a ``FileStoreError/other(_:)``: see ``FileForm``.
  package static func open(
    store: Store, folder: String, pool: BlockingPool, clock: WallClock,
    expiryClock: WallClock, random: @escaping @Sendable () -> UInt64,
    key: SymmetricKey? = nil, limits: DiskFileLimits = DiskFileLimits()
  ) throws(FileStoreError) -> DiskFileStore {
    let files = DiskFileStore(
      store: store, folder: BlobFolder(path: folder, key: key), pool: pool, clock: clock,
      expiryClock: expiryClock, random: random, limits: limits)
    do throws(DiskError) { try files.folder.make() } catch { throw FileStoreError(error) }
    do throws(FileForm.Fault) {
      try FileForm(folder: folder).settle(key)
    } catch {
      throw .other("\(error)")
    }
    return files
  }

  /// Runs blocking work off the event loop, and converts its errors.
  func blocking<Result: Sendable>(
    _ body: @escaping @Sendable () throws(DiskError) -> Result
  ) async throws(FileStoreError) -> Result {
    do throws(DiskError) {
      return try await pool.run(body)
    } catch {
      throw FileStoreError(error)
    }
  }

  /// Removes files that nothing refers to. Those that cannot be removed stay recorded.
  ///
  /// - Returns: the files that no longer exist.
  @discardableResult
  func removeFiles(_ blobs: [BlobName]) async -> [BlobName] {
    guard !blobs.isEmpty else { return [] }
    let folder = folder
    return await pool.run { folder.remove(blobs) }
  }
}

/// Limits of the disk store; those of S3 unless stated otherwise.
package struct DiskFileLimits: Sendable, Hashable {
  /// Minimum size of every part but the last.
  package var partBytesMin = 5 << 20
  /// Longest range that is read when the object is opened; longer ones are sent from the file.
  var inlineBytesMax = 16 * 1024
  /// Attempts to open an object that is repeatedly replaced at the same time.
  var openTriesMax = 8
  /// Index rows per step of the sweep.
  var sweepBatch = 500

  package init() {}
}
