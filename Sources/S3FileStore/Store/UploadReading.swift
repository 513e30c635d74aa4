import Files
import Model
import Synchronization

/// Content to be uploaded: measured, hashed, and verified at its end.
///
/// Must not be read concurrently.
final class UploadReading: Sendable {
  /// Content up to this length is short: no capacity is reserved for it.
  private static let shortBytes = 1 << 20

  private struct State: ~Copyable {
    var hashing: ContentHashing
    var size = 0
    var hasEnded = false
    /// A piece that was read ahead, and is returned next.
    var returned: [UInt8]?
  }

  let content: UploadContent
  private let state: Mutex<State>

  init(_ content: UploadContent) {
    self.content = content
    let algorithms = content.digests.map(\.algorithm) + [content.computing].compactMap { $0 }
    state = Mutex(State(hashing: ContentHashing(algorithms)))
  }

  /// Bytes read so far.
  var size: Int { state.withLock { $0.size } }

  /// The next piece, which is never empty; nil at the end.
  func next() async throws(FileStoreError) -> [UInt8]? {
    if let piece = state.withLock({ $0.returned.take() }) { return piece }
    if state.withLock({ $0.hasEnded }) { return nil }
    while let piece = try await content.next() {
      if piece.isEmpty { continue }
      let size = state.withLock { state in
        state.size += piece.count
        state.hashing.update(piece)
        return state.size
      }
      guard size <= content.bytesMax else { throw .tooLarge(bytesMax: content.bytesMax) }
      guard size <= content.byteCount ?? .max else { throw .incomplete }
      return piece
    }
    guard size == content.byteCount ?? size else { throw .incomplete }
    state.withLock { $0.hasEnded = true }
    return nil
  }

  /// Reads the bytes of one buffer.
  ///
  /// - Returns: fewer than `count` only at the content's end.
  func buffer(_ count: Int) async throws(FileStoreError) -> [UInt8] {
    var buffer: [UInt8] = []
    while buffer.count < count, let piece = try await next() {
      // Reserved at once for long content: growing step by step takes up to three times as much.
      if buffer.count >= Self.shortBytes { buffer.reserveCapacity(count) }
      let room = count - buffer.count
      buffer += piece.prefix(room)
      if piece.count > room {
        state.withLock { $0.returned = Array(piece.dropFirst(room)) }
      }
    }
    return buffer
  }

  /// Returns whether all content was read; reads ahead if that is not known yet.
  func isAtEnd() async throws(FileStoreError) -> Bool {
    guard let piece = try await next() else { return true }
    state.withLock { $0.returned = piece }
    return false
  }

  /// Verifies content that has ended.
  ///
  /// - Returns: its MD5, and a digest of another kind that was supplied or requested.
  func check() throws(FileStoreError) -> (md5: ContentDigest?, noted: ContentDigest?) {
    let digests = state.withLock { $0.hashing.digests() }
    let promised = content.digests + (try content.trailingDigests())
    for digest in promised where digests[digest.algorithm] != digest {
      throw .digestMismatch(digest.algorithm)
    }
    let noted = promised.last { $0.algorithm != .md5 }?.algorithm ?? content.computing
    return (digests[.md5], noted.flatMap { digests[$0] })
  }
}
