import Foundation

/// What makes a store one Larder's alone, in this process and in others: a lock on a file beside it. It ends
/// with the object, and with the process however that ends.
final class StoreLock: Sendable {
  /// How long a former Larder has to end, whose tasks were cancelled just now.
  private static let attemptsMax = 25
  private static let pause = Duration.milliseconds(20)
  /// Where nothing can be written, or no more, there is no file to lock.
  private static let unwritable: Set<Int32> = [EACCES, EPERM, EROFS, ENOSPC, EDQUOT]

  private let file: Int32

  private init(_ file: Int32) {
    self.file = file
  }

  deinit {
    close(file)
  }

  /// - Returns: nil where no file can be made for it.
  static func take(for store: URL) async throws -> StoreLock? {
    let store = store.resolvingSymlinksInPath()
    let folder = store.deletingLastPathComponent()
    do {
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    } catch {
      throw LarderError.storage("the folder \(folder.path) cannot be made")
    }
    let file = open(store.path + ".lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    if file < 0, unwritable.contains(errno) { return nil }
    guard file >= 0 else {
      throw LarderError.storage("\(store.path).lock: \(String(cString: strerror(errno)))")
    }
    let lock = StoreLock(file)
    for _ in 0..<attemptsMax {
      if flock(file, LOCK_EX | LOCK_NB) == 0 { return lock }
      try await Task.sleep(for: pause)
    }
    throw LarderError.storage(
      "another Larder uses \(store.path): keep one for the whole app, and let it end before the next"
    )
  }
}
