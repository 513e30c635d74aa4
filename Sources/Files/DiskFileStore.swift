import HTTPWire
package import Model
package import Storage
package import Transport

/// Keeps objects as files on this machine's disk, and their index in the store's database.
///
/// Content is written to a new file under a random name, synced, and only then does one transaction
/// of the index make it the object's: whatever ends the process leaves the object before, or this
/// one. What the transaction leaves behind is noted in it, and removed at once or by the sweep.
package struct DiskFileStore: Sendable {
  let store: Store
  let folder: BlobFolder
  let pool: BlockingPool
  let clock: WallClock
  /// What uploads age by, see ``sweep(uploadsBegunBefore:)``.
  let expiryClock: WallClock
  let random: @Sendable () -> UInt64
  let limits: DiskFileLimits
  let active = ActiveBlobs()

  /// Makes the folders that are missing. Blocks.
  ///
  /// - Parameters:
  ///   - folder: on one file system, for nothing else.
  ///   - pool: for writing, hashing and syncing; its threads are busy for as long as that takes.
  ///   - expiryClock: stamps uploads; the moments that a sweep is given are of the same clock.
  ///   - random: another number at each call, that nobody can guess.
  package static func open(
    store: Store, folder: String, pool: BlockingPool, clock: WallClock,
    expiryClock: WallClock, random: @escaping @Sendable () -> UInt64,
    limits: DiskFileLimits = DiskFileLimits()
  ) throws(FileStoreError) -> DiskFileStore {
    let files = DiskFileStore(
      store: store, folder: BlobFolder(path: folder), pool: pool, clock: clock,
      expiryClock: expiryClock, random: random, limits: limits)
    do throws(DiskError) { try files.folder.make() } catch { throw FileStoreError(error) }
    return files
  }

  /// Runs work on files off the loop and names its failure as a file store's.
  func blocking<Answer: Sendable>(
    _ body: @escaping @Sendable () throws(DiskError) -> Answer
  ) async throws(FileStoreError) -> Answer {
    do throws(DiskError) {
      return try await pool.run(body)
    } catch {
      throw FileStoreError(error)
    }
  }

  /// Removes files that nothing refers to. What cannot be removed now stays noted.
  ///
  /// - Returns: those that are gone now.
  @discardableResult
  func bury(_ blobs: [BlobName]) async -> [BlobName] {
    guard !blobs.isEmpty else { return [] }
    let folder = folder
    return await pool.run { folder.remove(blobs) }
  }
}
