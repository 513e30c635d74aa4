import Model
import Synchronization

extension UploadContent {
  /// Content in memory, read in pieces.
  static func of(
    _ bytes: [UInt8], pieceBytes: Int = 100_000, announced: Int? = nil,
    digests: [ContentDigest] = [], failure: FileStoreError? = nil
  ) -> UploadContent {
    let pieces = Pieces(bytes, pieceBytes: pieceBytes, failure: failure)
    return UploadContent(
      byteCount: announced ?? (failure == nil ? bytes.count : nil), digests: digests,
      next: { () async throws(FileStoreError) in try pieces.next() })
  }

  private final class Pieces: Sendable {
    private let bytes: [UInt8]
    private let pieceBytes: Int
    private let failure: FileStoreError?
    private let offset = Mutex(0)

    init(_ bytes: [UInt8], pieceBytes: Int, failure: FileStoreError?) {
      self.bytes = bytes
      self.pieceBytes = pieceBytes
      self.failure = failure
    }

    func next() throws(FileStoreError) -> [UInt8]? {
      let start = offset.withLock { offset in
        defer { offset += pieceBytes }
        return offset
      }
      guard start < bytes.count else {
        if let failure { throw failure }
        return nil
      }
      return Array(bytes[start..<min(start + pieceBytes, bytes.count)])
    }
  }
}
