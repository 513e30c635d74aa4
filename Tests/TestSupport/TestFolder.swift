import Foundation
import Synchronization

/// A new folder in the temporary folder, removed with the object.
///
/// A test that only uses the path holds the folder with `defer { folder.remove() }`: an object that is not
/// used any more can be released before the end of its scope.
package final class TestFolder: Sendable {
  package let path: String

  /// - Parameter purpose: a part of the folder's name, to find who made it.
  package init(_ purpose: String) throws {
    let folder = FileManager.default.temporaryDirectory
      .appending(path: "larder-\(purpose)-\(UUID().uuidString)")
    try FileManager.default.createDirectory(
      at: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
    path = folder.path
  }

  deinit { remove() }

  package func remove() { try? FileManager.default.removeItem(atPath: path) }

  // MARK: Once a run

  private static let kept = Mutex<[TestFolder]>([])
  /// Static properties are never released.
  private static let removesKept: Void = {
    _ = atexit { TestFolder.kept.withLock { $0 = [] } }
  }()

  /// A folder for what is made once a run, removed at the end of the process.
  package static func untilExit(_ purpose: String) throws -> TestFolder {
    _ = removesKept
    let folder = try TestFolder(purpose)
    kept.withLock { $0.append(folder) }
    return folder
  }
}
