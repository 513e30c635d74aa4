import Foundation

/// A file system of a few MiB that can be filled and emptied at will.
final class SmallDisk: Sendable {
  enum Problem: Error {
    case notMounted
  }

  /// Room for the database and some hundred answers.
  private static let bytes = 4 << 20

  let path: String
  private var ballast: String { "\(path)/ballast" }

  /// Whether this process may mount at all: in many containers it may not, root or no root.
  static let isPermitted = (try? SmallDisk()) != nil

  init() throws {
    path =
      FileManager.default.temporaryDirectory
      .appending(path: "larder-disk-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    guard Tool.run("mount", "-t", "tmpfs", "-o", "size=\(Self.bytes)", "tmpfs", path) else {
      try? FileManager.default.removeItem(atPath: path)
      throw Problem.notMounted
    }
  }

  deinit {
    // Lazily, since the last test may have left a file open.
    guard Tool.run("umount", "--lazy", path) else { return }
    try? FileManager.default.removeItem(atPath: path)
  }

  /// Takes all room that is left, to the last page.
  func fill() throws {
    _ = FileManager.default.createFile(atPath: ballast, contents: nil)
    let file = try FileHandle(forWritingTo: URL(filePath: ballast))
    defer { try? file.close() }
    let page = Data(repeating: 0, count: 4096)
    for _ in 0...(Self.bytes / page.count) {
      do { try file.write(contentsOf: page) } catch { return }
    }
  }

  /// - Parameter mode: `ro` or `rw`.
  func remount(_ mode: String) throws {
    guard Tool.run("mount", "-o", "remount,\(mode)", path) else { throw Problem.notMounted }
  }

  func free() throws {
    try FileManager.default.removeItem(atPath: ballast)
  }
}
