import Synchronization

/// The mutations that this node is adding to the inbox, and whose requests have not been answered: neither its store nor
/// what it knows of the inbox has them yet, but they count against their device's limits.
final class AddedMutations: Sendable {
  /// The mutations of one request.
  struct Place: Sendable {
    fileprivate let device: String
    fileprivate let count: Int
    /// Those of the device that other requests were adding before.
    let before: Int
  }

  private let counts = Mutex<[String: Int]>([:])

  func enter(_ count: Int, of device: String) -> Place {
    counts.withLock { counts in
      let before = counts[device, default: 0]
      counts[device] = before + count
      return Place(device: device, count: count, before: before)
    }
  }

  func leave(_ place: Place) {
    counts.withLock { counts in
      let left = counts[place.device, default: 0] - place.count
      counts[place.device] = left > 0 ? left : nil
    }
  }
}
