import Storage
import Synchronization

/// The files that are being written now, so that the sweep leaves them alone.
final class ActiveBlobs: Sendable {
  private let names = Mutex<Set<BlobName>>([])

  func insert(_ name: BlobName) { names.withLock { _ = $0.insert(name) } }

  func remove(_ name: BlobName) { names.withLock { _ = $0.remove(name) } }

  func contains(_ name: BlobName) -> Bool { names.withLock { $0.contains(name) } }
}
