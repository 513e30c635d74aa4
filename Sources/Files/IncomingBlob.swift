import Cryptography
import Model
import Storage
import Synchronization
import Transport

/// Content on its way to the disk: pieces are written and hashed on a thread of the pool, so that the
/// network and the disk work at the same time.
///
/// Appending waits while the backlog exceeds a limit.
final class IncomingBlob: Sendable {
  /// Unwritten bytes above which the next piece waits.
  private static let backlogMax = 1 << 20
  /// Bytes written before other work of the pool gets its turn.
  private static let turnBytes = 8 << 20

  private struct State {
    var pieces: [[UInt8]] = []
    /// Bytes of pieces that are not written yet.
    var backlog = 0
    var isWriting = false
    var failure: DiskError?
    /// The caller that waits until the backlog is at most this.
    var waiter: (backlog: Int, continuation: CheckedContinuation<Void, Never>)?
  }

  let name: BlobName
  private let file: IncomingFile
  private let folder: BlobFolder
  private let pool: BlockingPool
  private let hashing: Mutex<ContentHashing>
  private let state = Mutex(State())

  /// Blocks.
  ///
  /// - Parameter cipher: nil to store the content as it is. Digests are those of the content in any case.
  init(
    _ name: BlobName, in folder: BlobFolder, pool: BlockingPool, encrypting cipher: FrameCipher?,
    computing algorithms: [ContentDigest.Algorithm]
  ) throws(DiskError) {
    self.name = name
    self.folder = folder
    self.pool = pool
    hashing = Mutex(ContentHashing(algorithms))
    file = try IncomingFile(making: folder.incomingPath(name), encrypting: cipher)
  }

  func append(_ piece: [UInt8]) async throws(DiskError) {
    let (failure, isStart, backlog) = state.withLock { state in
      state.pieces.append(piece)
      state.backlog += piece.count
      let isStart = !state.isWriting
      state.isWriting = true
      return (state.failure, isStart, state.backlog)
    }
    if isStart { startWriting() }
    if let failure { throw failure }
    if backlog > Self.backlogMax { try await wait(forBacklog: Self.backlogMax / 2) }
  }

  /// Waits until everything is written and synced, including the file's name.
  ///
  /// - Returns: the content's digests.
  func finish() async throws(DiskError) -> [ContentDigest.Algorithm: ContentDigest] {
    try await wait(forBacklog: 0)
    try await pool.run { [self] () throws(DiskError) in
      try file.sync()
      try folder.sync(folder: folder.incoming)
    }
    return hashing.withLock { $0.digests() }
  }

  /// Waits until writing has ended, so that the file can be removed.
  func stop() async {
    state.withLock { state in
      state.pieces = []
      state.failure = state.failure ?? DiskError("stop", code: 0)
    }
    try? await wait(forBacklog: 0)
  }

  private func wait(forBacklog backlog: Int) async throws(DiskError) {
    await withCheckedContinuation { continuation in
      let isThere = state.withLock { state in
        if !state.isWriting || state.backlog <= backlog { return true }
        state.waiter = (backlog, continuation)
        return false
      }
      if isThere { continuation.resume() }
    }
    if let failure = state.withLock({ $0.failure }) { throw failure }
  }

  private func startWriting() {
    pool.submit { [self] in writeTurn() }
  }

  private func writeTurn() {
    var written = 0
    while written < Self.turnBytes {
      guard let pieces = takePieces() else { return }
      do throws(DiskError) {
        for piece in pieces {
          try file.write(piece)
          hashing.withLock { $0.update(piece) }
        }
      } catch {
        state.withLock { $0.failure = $0.failure ?? error }
      }
      let count = pieces.reduce(0) { $0 + $1.count }
      written += count
      noteWritten(count)
    }
    startWriting()
  }

  /// - Returns: nil if nothing is left to write.
  private func takePieces() -> [[UInt8]]? {
    let (pieces, waiter) = state.withLock { state in
      if state.failure != nil { state.pieces = [] }
      guard state.pieces.isEmpty else {
        defer { state.pieces = [] }
        return (state.pieces as [[UInt8]]?, nil as CheckedContinuation<Void, Never>?)
      }
      state.isWriting = false
      state.backlog = 0
      return (nil, state.waiter.take()?.continuation)
    }
    waiter?.resume()
    return pieces
  }

  private func noteWritten(_ count: Int) {
    let waiter = state.withLock { state -> CheckedContinuation<Void, Never>? in
      state.backlog = max(0, state.backlog - count)
      guard let waiter = state.waiter, state.backlog <= waiter.backlog else { return nil }
      state.waiter = nil
      return waiter.continuation
    }
    waiter?.resume()
  }
}
