import Glibc
import Storage
import Transport

/// The files that hold the content of objects: `incoming` for those that are written, `objects` for
/// those the index refers to, spread over 256 folders by the first byte of their names.
///
/// A file is complete and synced before the index refers to it, and moves to `objects` after that.
/// So what lies in `incoming` is either written now, or a leftover of a crash that the index knows
/// or does not; and nothing else ever has to be looked for. Everything here blocks.
struct BlobFolder: Sendable {
  private static let spread = (0..<256).map { byte in
    String(byte >> 4, radix: 16) + String(byte & 15, radix: 16)
  }

  let path: String
  var incoming: String { "\(path)/incoming" }

  /// Makes the folders that are missing, for their owner alone.
  func make() throws(DiskError) {
    for folder in [path, incoming, "\(path)/objects"] + Self.spread.map({ "\(path)/objects/\($0)" })
    where mkdir(folder, 0o700) != 0 && errno != EEXIST {
      throw DiskError("mkdir")
    }
    for folder in ["\(path)/objects", path] { try sync(folder: folder) }
  }

  /// Where a file lies while it is written.
  func arrival(_ blob: BlobName) -> String { "\(incoming)/\(blob.text)" }

  /// Where a file lies that the index refers to.
  func home(_ blob: BlobName) -> String {
    "\(path)/objects/\(blob.text.prefix(2))/\(blob.text)"
  }

  /// Opens a file; nil where it is gone, since its object was replaced meanwhile.
  func open(_ blob: BlobName) throws(SystemError) -> OpenFile? {
    // It may move from the one place to the other between two looks, once.
    for path in [home(blob), arrival(blob), home(blob)] {
      do throws(SystemError) {
        return try OpenFile(path: path)
      } catch {
        guard error.code == ENOENT else { throw error }
      }
    }
    return nil
  }

  /// Moves a file that the index refers to now to its place. One that is gone has been removed.
  func settle(_ blob: BlobName) throws(DiskError) {
    guard rename(arrival(blob), home(blob)) != 0, errno != ENOENT else { return }
    throw DiskError("rename")
  }

  /// Removes files, wherever they lie. First from where they arrive: a file that its writer moves
  /// in the meantime is then either gone for the writer, or found at home.
  ///
  /// - Returns: those that are gone now.
  @discardableResult
  func remove(_ blobs: [BlobName]) -> [BlobName] {
    blobs.filter { blob in
      isGone(arrival(blob)) && isGone(home(blob))
    }
  }

  private func isGone(_ path: String) -> Bool { unlink(path) == 0 || errno == ENOENT }

  /// Gives a file's content a second name, without copying it. The content is never changed.
  ///
  /// - Returns: false where the source is gone.
  func link(_ source: BlobName, as target: BlobName) throws(DiskError) -> Bool {
    for path in [home(source), arrival(source), home(source)] {
      if Glibc.link(path, arrival(target)) == 0 { return true }
      guard errno == ENOENT else { throw DiskError("link") }
    }
    return false
  }

  /// Names of files in `incoming`.
  func arrivals() throws(DiskError) -> [BlobName] {
    guard let folder = opendir(incoming) else { throw DiskError("opendir") }
    defer { closedir(folder) }
    var blobs: [BlobName] = []
    while let entry = readdir(folder) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
        pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      if let blob = BlobName(name) { blobs.append(blob) }
    }
    return blobs
  }

  /// Makes the names in a folder survive a power failure.
  func sync(folder: String) throws(DiskError) {
    let descriptor = Glibc.open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { throw DiskError("open") }
    defer { close(descriptor) }
    guard fsync(descriptor) == 0 else { throw DiskError("fsync") }
  }
}
