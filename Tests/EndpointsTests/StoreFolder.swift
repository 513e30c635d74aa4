import Foundation
import Model
import Storage
import Synchronization

/// A store in a temporary folder that is removed with it.
final class StoreFolder: Sendable {
  let path: String
  let store: Store

  init(types: [EntityType] = []) throws {
    path = "\(NSTemporaryDirectory())/larder-endpoints-\(UUID().uuidString)"
    store = try Store.open(
      StoreConfiguration(folder: path, segment: 1, opened: Timestamp(milliseconds: 0)),
      types: types)
  }

  deinit {
    store.close()
    try? FileManager.default.removeItem(atPath: path)
  }
}

/// A clock that stands still until it is advanced.
final class TestClock: Sendable {
  private let now = Mutex(Timestamp(milliseconds: 1_700_000_000_000))

  var clock: WallClock { WallClock { self.now.withLock { $0 } } }

  func advance(by duration: Duration) {
    now.withLock { $0 = $0.advanced(by: duration) }
  }
}
