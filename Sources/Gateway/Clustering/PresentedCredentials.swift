import Synchronization

/// The credentials that devices have presented to this replica, so that the leader, which alone sends queued
/// mutations, hears of each of them once.
package final class PresentedCredentials: Sendable {
  /// The most devices that are remembered; beyond it all are forgotten, and presented once more.
  private static let devicesMax = 50_000

  private let hashes = Mutex<[String: Int]>([:])

  package init() {}

  /// Notes the credentials of a device.
  ///
  /// - Returns: whether they differ from those that it presented last.
  package func note(_ credentials: some Hashable, of device: String) -> Bool {
    var hasher = Hasher()
    hasher.combine(credentials)
    let hash = hasher.finalize()
    return hashes.withLock { hashes in
      if hashes[device] == hash { return false }
      if hashes.count >= Self.devicesMax { hashes.removeAll(keepingCapacity: true) }
      hashes[device] = hash
      return true
    }
  }
}
