import Foundation

/// A temporary folder that is removed with the value that holds it.
final class TemporaryFolder: Sendable {
  let path: String

  init(in parent: String = NSTemporaryDirectory()) {
    path = "\(parent)/larder-storage-\(UUID().uuidString)"
  }

  deinit {
    try? FileManager.default.removeItem(atPath: path)
  }

  var databasePath: String { "\(path)/larder.sqlite" }
}
