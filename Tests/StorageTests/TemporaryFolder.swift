import Foundation

/// A folder of its own that goes with the value that holds it.
final class TemporaryFolder: Sendable {
  let path: String

  init() {
    path = NSTemporaryDirectory() + "larder-storage-\(UUID().uuidString)"
  }

  deinit {
    try? FileManager.default.removeItem(atPath: path)
  }

  var databasePath: String { "\(path)/larder.sqlite" }
}
