import Foundation

/// A file system of a few MiB that can be filled and freed.
final class SmallDisk: Sendable {
  enum Problem: Error {
    case notMounted
  }

  /// Room for the database and some hundred responses.
  private static let bytes = 4 << 20

  let path: String
  private var ballast: String { "\(path)/ballast" }

  /// Whether this process can mount at all: in many containers not even root can.
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
    // Lazily, since the last test can have left a file open.
    guard Tool.run("umount", "--lazy", path) else { return }
    try? FileManager.default.removeItem(atPath: path)
  }

  /// Uses up all free room, to the last page.
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

/// A system program that is run for its effect.
enum Tool {
  /// - Returns: whether it ended with 0.
  @discardableResult
  static func run(_ arguments: String...) -> Bool {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = arguments
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    guard (try? process.run()) != nil else { return false }
    process.waitUntilExit()
    return process.terminationStatus == 0
  }
}
