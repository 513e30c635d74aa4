internal import Cryptography
internal import Foundation
internal import Synchronization
internal import Transport

/// Reads a file from its start, and hashes it. Its calls block.
package final class SnapshotReader: Sendable {
  private let path: String
  private let file: OpenFile
  private let state = Mutex(State())

  private struct State: ~Copyable {
    var offset = 0
    var hash = RunningHash<SHA256>()
  }

  package init(_ path: String) throws(ClusterError) {
    self.path = path
    do throws(SystemError) { file = try OpenFile(path: path) } catch {
      throw .faulty("cannot read the snapshot \(path): \(error)")
    }
  }

  /// Returns the next bytes; none at the file's end.
  package func next(_ count: Int) throws(ClusterError) -> [UInt8] {
    let result = state.withLock { state in
      Result { () throws(SystemError) in
        let bytes = try file.read(count, from: state.offset)
        state.offset += bytes.count
        state.hash.update(data: bytes)
        return bytes
      }
    }
    do throws(SystemError) { return try result.get() } catch {
      throw .faulty("cannot read the snapshot \(path): \(error)")
    }
  }

  /// The number of bytes that were read so far.
  package var byteCount: Int64 { state.withLock { Int64($0.offset) } }

  /// SHA-256 of what was read so far.
  package var digest: [UInt8] { state.withLock { Array($0.hash.finalize()) } }
}

/// Writes a new file, and hashes it. Its calls block.
package final class SnapshotWriter: Sendable {
  private let path: String
  private let file: FileHandle
  private let state = Mutex(State())

  private struct State: ~Copyable {
    var byteCount: Int64 = 0
    var hash = RunningHash<SHA256>()
  }

  /// Replaces a file of the path by an empty one that only its owner can read.
  package init(_ path: String) throws(ClusterError) {
    self.path = path
    try? FileManager.default.removeItem(atPath: path)
    let isMade = FileManager.default.createFile(
      atPath: path, contents: nil, attributes: [.posixPermissions: 0o600])
    guard isMade, let file = FileHandle(forWritingAtPath: path) else {
      throw .faulty("cannot write the snapshot to \(path): check its folder's permissions")
    }
    self.file = file
  }

  package func append(_ bytes: [UInt8]) throws(ClusterError) {
    do { try file.write(contentsOf: Data(bytes)) } catch {
      throw .faulty("cannot write the snapshot to \(path): \(error.localizedDescription)")
    }
    state.withLock { state in
      state.byteCount += Int64(bytes.count)
      state.hash.update(data: bytes)
    }
  }

  /// Verifies what was written, and syncs it.
  package func finish(_ info: SnapshotInfo) throws(ClusterError) {
    let (count, digest) = state.withLock { ($0.byteCount, Array($0.hash.finalize())) }
    guard count == info.byteCount, digest == info.sha256 else {
      throw .faulty(
        "snapshot \(info.id) is damaged: it has \(count) bytes of \(info.byteCount), and its SHA-256 "
          + "is not the one that was stored with it; make a new one on the leader")
    }
    do {
      try file.synchronize()
      try file.close()
    } catch {
      throw .faulty("cannot write the snapshot to \(path): \(error.localizedDescription)")
    }
  }

  package func discard() {
    try? file.close()
    try? FileManager.default.removeItem(atPath: path)
  }
}
