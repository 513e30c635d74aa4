import Glibc
package import Transport

/// Shared objects in a folder, such as one on a network file system that both machines have mounted.
///
/// A fixed object is a file that gets its name by `link(2)`, which fails if the name is taken, also over NFS. A
/// register is a folder with a file for each of its last states, whose names are numbers: to replace state N is to
/// make N + 1. So nothing depends on locks of files, which network file systems implement in different ways.
package struct FolderObjects: SharedObjects {
  /// States of a register that stay: a reader may have just read the name of the one before the last.
  private static let statesKept: UInt64 = 2
  private static let ownerOnly: mode_t = 0o600
  private static let folderMode: mode_t = 0o700

  /// The folder that exists already, such as the point of a mount.
  private let base: String
  private let root: String
  private let pool: BlockingPool

  package var place: String { "the folder \(root)" }

  /// - Parameters:
  ///   - base: must exist: a folder that is made here, because a file system is not mounted, would be another one.
  ///   - name: of the folder in it, which is made.
  package init(base: String, name: String, pool: BlockingPool) {
    self.base = base
    root = "\(base)/\(name)"
    self.pool = pool
  }

  package func read(_ name: String) async throws(StandbyError) -> [UInt8]? {
    let path = path(name)
    return try await pool.run { () throws(StandbyError) in try contents(path) }
  }

  package func make(_ name: String, _ bytes: [UInt8]) async throws(StandbyError) -> Bool {
    let path = path(name)
    return try await pool.run { () throws(StandbyError) in try link(bytes, to: path) }
  }

  package func remove(_ name: String) async throws(StandbyError) {
    let path = path(name)
    try await pool.run { () throws(StandbyError) in
      guard unlink(path) != 0, errno != ENOENT else { return }
      throw fault("cannot remove \(path)")
    }
  }

  package func register(_ name: String) async throws(StandbyError) -> RegisterState? {
    let folder = path(name)
    return try await pool.run { () throws(StandbyError) in try latest(in: folder) }
  }

  package func replace(
    _ name: String, with bytes: [UInt8], after version: String?
  ) async throws(StandbyError) -> String? {
    let folder = path(name)
    return try await pool.run { () throws(StandbyError) in
      let seen = version.flatMap { UInt64($0) }
      guard try states(in: folder).max() == seen else { return nil }
      let next = (seen ?? 0) + 1
      let path = Self.state(next, in: folder)
      guard try link(bytes, to: path) else { return nil }
      // A state of this number can have been made, replaced and removed since it was looked for.
      let present = try states(in: folder)
      guard present.allSatisfy({ $0 <= next }) else {
        unlink(path)
        return nil
      }
      for old in present where old + Self.statesKept <= next {
        unlink(Self.state(old, in: folder))
      }
      return "\(next)"
    }
  }

  // MARK: Files

  private func path(_ name: String) -> String { "\(root)/\(name)" }

  private static func state(_ number: UInt64, in folder: String) -> String { "\(folder)/\(number)" }

  private func latest(in folder: String) throws(StandbyError) -> RegisterState? {
    while true {
      guard let number = try states(in: folder).max() else { return nil }
      // Removed meanwhile: there are later ones.
      guard let bytes = try contents(Self.state(number, in: folder)) else { continue }
      return RegisterState(bytes: bytes, version: "\(number)")
    }
  }

  private func states(in folder: String) throws(StandbyError) -> [UInt64] {
    try checkBase()
    guard let listing = opendir(folder) else {
      if errno == ENOENT { return [] }
      throw fault("cannot read \(folder)")
    }
    defer { closedir(listing) }
    var numbers: [UInt64] = []
    while let entry = readdir(listing) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      if let number = UInt64(name) { numbers.append(number) }
    }
    return numbers
  }

  private func contents(_ path: String) throws(StandbyError) -> [UInt8]? {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else {
      guard errno == ENOENT else { throw fault("cannot read \(path)") }
      try checkBase()
      return nil
    }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw fault("cannot read \(path)") }
    let size = Int(status.st_size)
    var done = 0
    var failure: StandbyError?
    let bytes = [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
      while done < size {
        let got = Glibc.read(descriptor, buffer.baseAddress! + done, size - done)
        if got < 0, errno == EINTR { continue }
        if got < 0 { failure = fault("cannot read \(path)") }
        if got <= 0 { break }
        done += got
      }
      count = done
    }
    if let failure { throw failure }
    return bytes
  }

  /// - Returns: false if the name is taken.
  private func link(_ bytes: [UInt8], to path: String) throws(StandbyError) -> Bool {
    try checkBase()
    let folder = String(path[..<(path.lastIndex(of: "/") ?? path.endIndex)])
    try makeFolders(folder)
    let fresh = "\(folder)/.new-\(UInt64.random(in: 0...UInt64.max))"
    defer { unlink(fresh) }
    try write(bytes, to: fresh)
    guard Glibc.link(fresh, path) == 0 else {
      if errno == EEXIST { return false }
      if [EPERM, ENOTSUP, ENOSYS, EMLINK].contains(errno) {
        throw .faulty(
          "the file system of \(root) has no hard links (error \(errno)), which a standby needs; use NFS or a local "
            + "file system of Linux, or a bucket")
      }
      throw fault("cannot write \(path)")
    }
    try sync(folder)
    return true
  }

  private func write(_ bytes: [UInt8], to path: String) throws(StandbyError) {
    let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, Self.ownerOnly)
    guard descriptor >= 0 else { throw fault("cannot write \(path)") }
    defer { close(descriptor) }
    var done = 0
    while done < bytes.count {
      let count = bytes.withUnsafeBytes {
        Glibc.write(descriptor, $0.baseAddress! + done, bytes.count - done)
      }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { throw fault("cannot write \(path)") }
      done += count
    }
    guard fsync(descriptor) == 0 else { throw fault("cannot sync \(path)") }
  }

  private func makeFolders(_ folder: String) throws(StandbyError) {
    if access(folder, F_OK) == 0 { return }
    guard folder.count > base.count else { return }
    try makeFolders(String(folder[..<(folder.lastIndex(of: "/") ?? folder.endIndex)]))
    guard mkdir(folder, Self.folderMode) == 0 || errno == EEXIST else {
      throw fault("cannot make \(folder)")
    }
  }

  private func sync(_ folder: String) throws(StandbyError) {
    let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { throw fault("cannot sync \(folder)") }
    defer { close(descriptor) }
    guard fsync(descriptor) == 0 || errno == EINVAL else { throw fault("cannot sync \(folder)") }
  }

  private func checkBase() throws(StandbyError) {
    guard access(base, F_OK) != 0 else { return }
    guard errno == ENOENT else { throw fault("cannot read \(base)") }
    throw .faulty("the folder \(base) does not exist: is its file system mounted?")
  }

  /// The error of the last call. Rights and forms do not mend themselves; a full disk or a lost server can.
  private func fault(_ action: String) -> StandbyError {
    let code = errno
    let reason = "\(action): \(String(cString: strerror(code)))"
    switch code {
    case EACCES, EPERM, EROFS, ENOTDIR, EISDIR, ENAMETOOLONG: return .faulty(reason)
    default: return .unavailable(reason)
    }
  }
}
