import Foundation

/// Files that accept no writes, not even by root or through descriptors that are already open, while this
/// object lives.
final class ImmutableFiles {
  enum Problem: Error {
    case refused
  }

  private let paths: [String]

  /// Whether this process and its file system support that.
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
