import CLinux
import Glibc

/// A regular file opened for reading, to be sent by a stream. Opening blocks: do it on the group's
/// `blockingPool`.
package final class OpenFile: Sendable {
  package let byteCount: Int
  /// Seconds since 1970.
  package let modifiedSeconds: Int64
  package let modifiedNanoseconds: Int64
  /// Device and inode, which identify the file if another has replaced it.
  package let device: UInt64
  package let inode: UInt64
  let descriptor: Descriptor

  /// Opens `path`. Anything but a regular file fails with `EISDIR` or `ENOTSUP`, since a pipe or a
  /// device would block or never end.
  package convenience init(path: String) throws(SystemError) {
    try self.init(
      Descriptor(owning: open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), from: "open"))
  }

  /// Attempts to open a file that a link leads to but that no longer exists: the link may have changed in
  /// the meantime, as when a folder is swapped for its next version.
  private static let triesMax = 3

  /// Opens a file below a folder, step by step, without leaving the folder: names must not be `.` or `..`
  /// or contain a slash, and links are followed only below the folder. The folder's own path can contain
  /// any of these.
  ///
  /// - Parameter names: the folders of the path, then the file.
  /// - Throws: `ENOENT` also for an invalid name, `EXDEV` if a link leads out.
  package convenience init(_ names: [String], below folder: String) throws(SystemError) {
    guard !names.isEmpty, names.allSatisfy(Self.isName) else {
      throw SystemError("openat", code: ENOENT)
    }
    try self.init(Self.find(names, below: folder, triesLeft: Self.triesMax - 1))
  }

  private static func find(
    _ names: [String], below folder: String, triesLeft: Int
  ) throws(SystemError) -> Descriptor {
    var walk = try FolderWalk(from: folder, along: names)
    do throws(SystemError) {
      return try walk.openFile()
    } catch {
      guard error.code == ENOENT, walk.linksFollowed > 0, triesLeft > 0 else { throw error }
      return try find(names, below: folder, triesLeft: triesLeft - 1)
    }
  }

  private static func isName(_ name: String) -> Bool {
    !name.isEmpty && name != "." && name != ".."
      && !name.utf8.contains { $0 == UInt8(ascii: "/") || $0 == 0 }
  }

  private init(_ descriptor: consuming Descriptor) throws(SystemError) {
    self.descriptor = descriptor
    var status = stat()
    guard fstat(descriptor.number, &status) == 0 else { throw SystemError("fstat") }
    guard status.st_mode & S_IFMT == S_IFREG else {
      throw SystemError("open", code: status.st_mode & S_IFMT == S_IFDIR ? EISDIR : ENOTSUP)
    }
    byteCount = Int(status.st_size)
    modifiedSeconds = Int64(status.st_mtim.tv_sec)
    modifiedNanoseconds = Int64(status.st_mtim.tv_nsec)
    device = UInt64(status.st_dev)
    inode = UInt64(status.st_ino)
  }

  /// Reads up to `count` bytes from `offset`; fewer only at the end of the file. Blocks.
  package func read(_ count: Int, from offset: Int) throws(SystemError) -> [UInt8] {
    var failure: SystemError?
    let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
      while filled < count {
        let rest = UnsafeMutableRawBufferPointer(
          rebasing: UnsafeMutableRawBufferPointer(buffer)[filled...])
        let got = self.read(into: rest, from: offset + filled)
        if got < 0 { failure = SystemError("pread") }
        if got <= 0 { break }
        filled += got
      }
    }
    if let failure { throw failure }
    return bytes
  }

  /// Fills buffers, one after the other, with the bytes from `offset`. Blocks.
  ///
  /// - Returns: the number of bytes read; fewer than there is room for only at the end of the file.
  package func read(
    into buffers: [UnsafeMutableRawBufferPointer], from offset: Int
  ) throws(SystemError) -> Int {
    var rest = buffers.map { iovec(iov_base: $0.baseAddress, iov_len: $0.count) }[...]
    var filled = 0
    while !rest.isEmpty {
      let count = Int32(min(rest.count, Self.buffersMax))
      let got = rest.withUnsafeBufferPointer {
        preadv(descriptor.number, $0.baseAddress, count, offset + filled)
      }
      if got < 0, errno == EINTR { continue }
      if got < 0 { throw SystemError("preadv") }
      if got == 0, rest.prefix(Int(count)).contains(where: { $0.iov_len > 0 }) { break }
      filled += got
      var taken = got
      while let first = rest.first, taken >= first.iov_len {
        taken -= first.iov_len
        rest.removeFirst()
      }
      if taken > 0, let first = rest.first {
        rest[rest.startIndex] = iovec(
          iov_base: first.iov_base + taken, iov_len: first.iov_len - taken)
      }
    }
    return filled
  }

  /// The buffers of one call of preadv (`IOV_MAX`).
  private static let buffersMax = 1_024

  func read(into buffer: UnsafeMutableRawBufferPointer, from offset: Int) -> Int {
    while true {
      let got = pread(descriptor.number, buffer.baseAddress, buffer.count, offset)
      if got < 0, errno == EINTR { continue }
      return got
    }
  }
}
