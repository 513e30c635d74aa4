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
    /// service failed.
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

/// A range of a file, read piece by piece off the event loop.
final class FileReading: Sendable {
  private static let pieceBytes = 1 << 20

  private let file: OpenFile
  private let end: Int
  private let pool: BlockingPool
  private let offset: Mutex<Int>

  init(_ file: OpenFile, _ range: Range<Int>, pool: BlockingPool) {
    self.file = file
    self.pool = pool
    end = range.upperBound
    offset = Mutex(range.lowerBound)
  }

  func next() async throws(FileStoreError) -> [UInt8]? {
    let (start, count) = offset.withLock { offset in
      let start = offset
      let count = min(Self.pieceBytes, end - start)
      offset += count
      return (start, count)
    }
    guard count > 0 else { return nil }
    let file = file
    do throws(SystemError) {
      return try await pool.run { () throws(SystemError) in try file.read(count, from: start) }
    } catch {
      throw .other("\(error)")
    }
  }
}
