import Foundation
import Model
import Storage

/// A store over a temporary folder that goes with it.
final class StoreFolder: Sendable {
  let path: String
  let store: Store

  init(types: [EntityType] = []) throws {
    path = "\(NSTemporaryDirectory())/larder-gateway-\(UUID().uuidString)"
    store = try Store.open(
      StoreConfiguration(folder: path, segment: 1, opened: Timestamp(milliseconds: 0)), types: types
    )
  }

  deinit {
    store.close()
    try? FileManager.default.removeItem(atPath: path)
  }
}
