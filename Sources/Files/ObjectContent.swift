import Cryptography
package import Model
import Synchronization
package import Transport

/// An object opened for reading.
package struct ObjectContent: Sendable {
  package enum Source: Sendable {
    /// The bytes of a short range.
    case bytes([UInt8])
    /// The file of the whole object, of which ``ObjectContent/range`` is requested.
    case file(OpenFile)
    /// The bytes of the range, piece by piece; nil at its end. Fewer bytes than the range mean that the
    /// service failed, or that an encrypted file was altered.
    case stream(@Sendable () async throws(FileStoreError) -> [UInt8]?)
  }

  package let metadata: ObjectMetadata
  /// The requested bytes of the object.
  package let range: Range<Int>
  package let source: Source

  package init(metadata: ObjectMetadata, range: Range<Int>, source: Source) {
    self.metadata = metadata
    self.range = range
    self.source = source
  }
}

/// A range of a stored file, read piece by piece off the event loop. The next piece is read, and decrypted if it
/// is encrypted, while the caller uses the one before.
///
/// The caller takes one piece after the other.
final class FileReading: Sendable {
  private typealias Piece = Task<Result<[UInt8], FileStoreError>, Never>

  private struct State {
    var offset: Int
    /// The piece that is read ahead.
    var ahead: Piece?
  }

  /// Bytes of a piece; two are in memory at once. Pieces end at multiples of it, so that no frame of an
  /// encrypted file is decrypted twice.
  private static let pieceBytes = 4 * FrameLayout.frameBytes

  private let content: BlobContent
  private let end: Int
  private let pool: BlockingPool
  private let state: Mutex<State>

  init(_ content: BlobContent, _ range: Range<Int>, pool: BlockingPool) {
    self.content = content
    self.pool = pool
    end = range.upperBound
    state = Mutex(State(offset: range.lowerBound))
  }

  /// - Returns: nil at the end of the range.
  func next() async throws(FileStoreError) -> [UInt8]? {
    guard let piece = state.withLock({ $0.ahead.take() }) ?? begin() else { return nil }
    if let ahead = begin() { state.withLock { $0.ahead = ahead } }
    return try await piece.value.get()
  }

  /// Begins to read the next piece; nil at the end.
  private func begin() -> Piece? {
    let range = state.withLock { state in
      let start = state.offset
      state.offset = min(end, (start / Self.pieceBytes + 1) * Self.pieceBytes)
      return start..<max(start, state.offset)
    }
    guard !range.isEmpty else { return nil }
    let (content, pool) = (content, pool)
    return Piece {
      await pool.run { () -> Result<[UInt8], FileStoreError> in
        do throws(DiskError) {
          return .success(try content.read(range.count, from: range.lowerBound))
        } catch {
          return .failure(.other("\(error)"))
        }
      }
    }
  }
}
