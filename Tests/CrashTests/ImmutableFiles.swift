import Foundation

/// Files that take no writes, not even root's and not through descriptors that are open already,
/// until this goes away.
final class ImmutableFiles {
  enum Problem: Error {
    case refused
  }

  private let paths: [String]

  /// Whether this process and its file system can do that.
  static let isPermitted: Bool = {
    let probe = FileManager.default.temporaryDirectory
      .appending(path: "larder-immutable-\(UUID().uuidString)").path
    _ = FileManager.default.createFile(atPath: probe, contents: nil)
    defer { try? FileManager.default.removeItem(atPath: probe) }
    return (try? ImmutableFiles([probe])) != nil
  }()

  init(_ paths: [String]) throws {
    self.paths = paths
    for path in paths {
      guard Tool.run("chattr", "+i", path) else {
        release()
        throw Problem.refused
      }
    }
  }

  deinit { release() }

  func release() {
    for path in paths { Tool.run("chattr", "-i", path) }
  }
}
