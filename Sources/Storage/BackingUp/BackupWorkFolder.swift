import FoundationEssentials
import Glibc

/// A folder with mode 0700 that one backup writes to.
///
/// It is locked (`flock(2)`) while it is in use. The kernel releases the lock with the process, so a folder
/// that a crash left is told from one in use, also by `larder backup` beside the service.
struct BackupWorkFolder {
  private enum Taking {
    case taken(BackupWorkFolder)
    case inUse
    case missing
    case failed(code: Int32)
  }

  /// The names of files that a backup writes begin with it.
  static let filePrefix = "copy.sqlite"
  static let suffix = ".partial"
  private static let ownerOnly: mode_t = 0o700

  let path: String
  private let descriptor: Int32

  /// Makes the folder, or empties one that a crash left.
  ///
  /// - Returns: nil if another backup uses it.
  static func take(_ path: String) throws(BackupError) -> BackupWorkFolder? {
    while true {
      if mkdir(path, ownerOnly) != 0, errno != EEXIST {
        throw .cannotWrite(reason: "cannot create the folder \(path) (error \(errno))")
      }
      switch lock(path) {
      case .taken(let folder):
        folder.clear()
        return folder
      case .inUse: return nil
      case .missing: continue
      case .failed(let code):
        throw .cannotWrite(reason: "cannot use the folder \(path) (error \(code))")
      }
    }
  }

  /// Removes a folder that a crash left. One in use stays, and so does one with other files.
  static func removeLeftover(_ path: String) {
    if case .taken(let folder) = lock(path) { folder.remove() }
  }

  /// Removes what crashes left of the backups in a folder.
  static func removeLeftovers(in path: String) {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
    for name in names where name.hasSuffix(suffix) { removeLeftover("\(path)/\(name)") }
  }

  /// Removes the folder and the backup's files in it, and ends the lock. Call it once, at the end.
  func remove() {
    clear()
    rmdir(path)
    close(descriptor)
  }

  private static func lock(_ path: String) -> Taking {
    let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
    guard descriptor >= 0 else { return errno == ENOENT ? .missing : .failed(code: errno) }
    guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
      let code = errno
      close(descriptor)
      return code == EWOULDBLOCK ? .inUse : .failed(code: code)
    }
    // The backup that had locked it can have removed it in the meantime.
    var (opened, named) = (stat(), stat())
    guard fstat(descriptor, &opened) == 0, lstat(path, &named) == 0,
      opened.st_ino == named.st_ino, opened.st_dev == named.st_dev
    else {
      close(descriptor)
      return .missing
    }
    return .taken(BackupWorkFolder(path: path, descriptor: descriptor))
  }

  private func clear() {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
    for name in names where name.hasPrefix(Self.filePrefix) { unlink("\(path)/\(name)") }
  }
}
