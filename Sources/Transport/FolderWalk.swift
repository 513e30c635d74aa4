import CLinux
import Glibc

/// The walk to a file below a folder, name by name: links are followed as long as they stay below it.
///
/// Each step starts from an open descriptor, and `..` returns along the folders that were passed, so no
/// step leaves the folder, even if names and links change in the meantime. `openat2` does the same with
/// RESOLVE_BENEATH, which older kernels and some sandboxes do not support.
struct FolderWalk {
  /// The kernel's own limit (path_resolution(7)).
  static let linksMax = 40

  /// The folder, then those on the path.
  private var folders: [Descriptor]
  /// The remaining names, the next one last.
  private var names: [String]
  private(set) var linksFollowed = 0

  /// - Parameter folder: its own path can contain links, so that a whole folder can be swapped.
  init(from folder: String, along names: [String]) throws(SystemError) {
    let flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC
    folders = [try Descriptor(owning: open(folder, flags), from: "open")]
    self.names = names.reversed()
  }

  /// Opens the file at the end of the path.
  ///
  /// - Throws: `EXDEV` if a link leads out, as any absolute link does; `ELOOP` if there are too many
  ///   links.
  mutating func openFile() throws(SystemError) -> Descriptor {
    while let name = names.popLast() {
      switch name {
      case "", ".":
        continue
      case "..":
        guard folders.count > 1 else { throw SystemError("openat", code: EXDEV) }
        folders.removeLast()
      default:
        if let file = try take(name) { return file }
      }
    }
    throw SystemError("openat", code: EISDIR)
  }

  /// Goes one step. Returns the file if it was the last.
  private mutating func take(_ name: String) throws(SystemError) -> Descriptor? {
    let isLast = names.isEmpty
    let kind = isLast ? O_NONBLOCK : O_DIRECTORY
    let flags = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | kind
    let current = folders[folders.count - 1]
    do throws(SystemError) {
      let next = try Descriptor(owning: openat(current.number, name, flags), from: "openat")
      if isLast { return next }
      folders.append(next)
    } catch {
      // An unfollowed link is reported as ELOOP or ENOTDIR.
      guard error.code == ELOOP || error.code == ENOTDIR,
        let target = Self.target(of: name, in: current)
      else { throw error }
      try follow(target)
    }
    return nil
  }

  private mutating func follow(_ target: String) throws(SystemError) {
    guard linksFollowed < Self.linksMax else { throw SystemError("openat", code: ELOOP) }
    linksFollowed += 1
    guard !target.hasPrefix("/") else { throw SystemError("openat", code: EXDEV) }
    let steps = target.split(separator: "/")
    guard !steps.contains(where: Self.isHidden) else { throw SystemError("openat", code: ENOENT) }
    names += steps.reversed().map(String.init)
  }

  /// Returns whether a name is hidden and not served. Names with two leading dots are versions of volumes
  /// that are swapped as a whole, `..data` and `..2026_01_31`: these are reached through links.
  private static func isHidden(_ name: Substring) -> Bool {
    name.hasPrefix(".") && !name.hasPrefix("..") && name != "."
  }

  /// Returns the target of a link; nil if it is not a link.
  private static func target(of name: String, in folder: Descriptor) -> String? {
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(PATH_MAX)) { buffer in
      guard let start = buffer.baseAddress else { return nil }
      let count = readlinkat(folder.number, name, start, buffer.count)
      guard count > 0, count < buffer.count else { return nil }
      return String(
        decoding: UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(buffer)[..<count]),
        as: UTF8.self)
    }
  }
}
