import Cryptography
import Files
import Foundation
import Model
import Storage
import Synchronization
import Transport

/// A disk store in a folder of its own, which is removed with it.
final class DiskFixture: Sendable {
  let path: String
  let index: Store
  let files: DiskFileStore
  /// The clock of the store in milliseconds since 1970, advanced by tests.
  let time = TestTime()

  final class TestTime: Sendable {
    private let milliseconds = Mutex<Int64>(1_800_000_000_000)
    /// The error of the wall clock.
    let error = Mutex(Duration.zero)

    /// The time of the wall clock.
    var now: Timestamp { lived.advanced(by: error.withLock { $0 }) }

    /// The clock by which uploads age.
    var lived: Timestamp { Timestamp(milliseconds: milliseconds.withLock { $0 }) }

    func pass(_ duration: Duration) {
      milliseconds.withLock { $0 += Timestamp(milliseconds: 0).advanced(by: duration).milliseconds }
    }
  }

  /// - Parameter key: encrypts the files; nil to store them as they are.
  init(partBytesMin: Int = 1000, key: SymmetricKey? = nil) throws {
    path = "\(NSTemporaryDirectory())larder-files-\(UUID().uuidString)"
    let time = time
    index = try Store.open(
      StoreConfiguration(folder: path, segment: 1, opened: time.now), types: [])
    var limits = DiskFileLimits()
    limits.partBytesMin = partBytesMin
    files = try DiskFileStore.open(
      store: index, folder: "\(path)/files", pool: BlockingPool(threadsMax: 4),
      clock: WallClock { time.now }, expiryClock: WallClock { time.lived },
      random: { UInt64.random(in: 0...UInt64.max) },
      key: key, limits: limits)
  }

  deinit {
    index.close()
    try? FileManager.default.removeItem(atPath: path)
  }

  /// Stored files, and those being written.
  func blobs() throws -> (home: [String], incoming: [String]) {
    let manager = FileManager.default
    let home = try manager.subpathsOfDirectory(atPath: "\(path)/files/objects").filter {
      $0.contains("/")
    }
    return (home, try manager.contentsOfDirectory(atPath: "\(path)/files/incoming"))
  }

  func contract(_ bucket: String = "bucket") async throws -> ContractStore {
    let contract = try ContractStore(store: files, bucket: bucket, partBytes: 1000)
    try await files.createBucket(contract.bucket)
    return contract
  }
}
