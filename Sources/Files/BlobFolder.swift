import Cryptography
import Glibc
import Storage
import Synchronization
import Transport

/// The files with the content of objects: those being written in `incoming`, those that the index
/// refers to in `objects`, in 256 folders by the first byte of their names.
///
/// A file is complete and synced before the index refers to it, and is moved to `objects` after that.
/// So a file in `incoming` is either being written, or left over from a crash, with or without a row
/// in the index; no other leftovers exist. With a key all files are encrypted, see ``FrameLayout``.
/// All methods block.
struct BlobFolder: Sendable {
  static let spread = (0..<256).map { byte in
    String(byte >> 4, radix: 16) + String(byte & 15, radix: 16)
  }

  let path: String
  /// Nil for files that are stored as they are.
  let key: SymmetricKey?
  var incoming: String { "\(path)/incoming" }

  /// Creates missing folders, accessible to their owner alone.
  func make() throws(DiskError) {
    for folder in Self.folders(below: path) where mkdir(folder, 0o700) != 0 && errno != EEXIST {
      throw DiskError("mkdir")
    }
    for folder in ["\(path)/objects", path] { try sync(folder: folder) }
  }

  /// The paths of a folder and of all folders below it, parents first.
  static func folders(below path: String) -> [String] {
    [path, "\(path)/incoming", "\(path)/objects"] + spread.map { "\(path)/objects/\($0)" }
  }

  /// Returns the path of a file while it is written.
  func incomingPath(_ blob: BlobName) -> String { "\(incoming)/\(blob.text)" }

  /// Returns the path of a file that the index refers to.
  func objectPath(_ blob: BlobName) -> String {
    "\(path)/objects/\(blob.text.prefix(2))/\(blob.text)"
  }

  /// Opens a file; nil if it was removed because its object was replaced in the meantime.
  func open(_ blob: BlobName) throws(DiskError) -> BlobContent? {
    // It can be moved once from one place to the other between two attempts.
    for path in [objectPath(blob), incomingPath(blob), objectPath(blob)] {
      let file: OpenFile
      do throws(SystemError) {
        file = try OpenFile(path: path)
      } catch {
        guard error.code == ENOENT else { throw DiskError(error).reading(blob) }
        continue
      }
      return try BlobContent(file, key: key, of: blob)
    }
    return nil
  }

  /// Moves a file that the index now refers to into `objects`. A missing file has been removed.
  func settle(_ blob: BlobName) throws(DiskError) {
    guard rename(incomingPath(blob), objectPath(blob)) != 0, errno != ENOENT else { return }
    throw DiskError("rename")
  }

  /// Removes files from both places. The incoming folder first: a file that its writer moves at the
  /// same time is then either missing for the writer or found in the objects' folder.
  ///
  /// - Returns: the files that no longer exist.
  @discardableResult
  func remove(_ blobs: [BlobName]) -> [BlobName] {
    blobs.filter { blob in
      isRemoved(incomingPath(blob)) && isRemoved(objectPath(blob))
    }
  }

  private func isRemoved(_ path: String) -> Bool { unlink(path) == 0 || errno == ENOENT }

  /// Links a file's content to a second name, without copying it. Content never changes.
  ///
  /// - Returns: false if the source no longer exists.
  func link(_ source: BlobName, as target: BlobName) throws(DiskError) -> Bool {
    for path in [objectPath(source), incomingPath(source), objectPath(source)] {
      if Glibc.link(path, incomingPath(target)) == 0 { return true }
      guard errno == ENOENT else { throw DiskError("link") }
    }
    return false
  }

  /// Returns the names of files in `incoming`.
  func incomingFiles() throws(DiskError) -> [BlobName] { try Self.files(in: incoming) }

  /// Returns the names of files in a folder.
  static func files(in path: String) throws(DiskError) -> [BlobName] {
    try names(in: path).compactMap { BlobName($0) }
  }

  /// Returns all names in a folder, without those of itself and of its parent.
  static func names(in path: String) throws(DiskError) -> [String] {
    guard let folder = opendir(path) else { throw DiskError("opendir") }
    defer { closedir(folder) }
    var names: [String] = []
    while let entry = readdir(folder) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
        pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      if name != ".", name != ".." { names.append(name) }
    }
    return names
  }

  /// Syncs a folder, so that its names survive a power failure.
  func sync(folder: String) throws(DiskError) { try Self.sync(folder: folder) }

  static func sync(folder: String) throws(DiskError) {
    let descriptor = Glibc.open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { throw DiskError("open") }
    defer { close(descriptor) }
    guard fsync(descriptor) == 0 else { throw DiskError("fsync") }
  }
}

/// The files that are being written, which the sweep must not touch.
final class ActiveBlobs: Sendable {
  private let names = Mutex<Set<BlobName>>([])

  func insert(_ name: BlobName) { names.withLock { _ = $0.insert(name) } }

  func remove(_ name: BlobName) { names.withLock { _ = $0.remove(name) } }

  func contains(_ name: BlobName) -> Bool { names.withLock { $0.contains(name) } }
}
