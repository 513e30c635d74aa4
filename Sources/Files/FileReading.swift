import Synchronization
import Transport

/// A stretch of a file, read piece by piece off the loop.
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
