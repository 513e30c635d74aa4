import Files
import HTTPClient
import HTTPTypes
import HTTPWire
import Model
import Synchronization

/// An answer to GET, understood: which object, and which of its bytes.
///
/// Not every service says 206 for a part, and some give the whole to whoever asked for one; what
/// stands in front of the wanted bytes and behind them is passed over.
struct S3Opened: Sendable {
  private let metadata: ObjectMetadata
  /// Nil where nothing of the wanted range exists.
  private let wanted: Range<Int>?
  /// Of the object, that the answer's content begins with.
  private let offset: Int
  private let reply: S3Reply

  /// - Parameter asked: the range in the request.
  init(_ key: ObjectKey, _ reply: S3Reply, asked: ByteRangeSet.Spec?) throws(S3Failure) {
    self.reply = reply
    let part = reply.fields[.contentRange].flatMap { ContentRange($0) }
    guard let metadata = S3ObjectFields.metadata(of: key, reply.fields, size: part?.size) else {
      throw S3Failure(unreadable: "an object without a length")
    }
    self.metadata = metadata
    offset = part?.first ?? 0
    wanted = asked.map { $0.resolve(length: metadata.size) } ?? 0..<metadata.size
    guard part == nil || wanted.map({ $0.lowerBound >= offset }) ?? true else {
      throw S3Failure(unreadable: "another range than was asked for")
    }
  }

  /// Of the whole object.
  var size: Int { metadata.size }

  /// - Returns: nil where nothing of the range exists.
  func content(inlineBytesMax: Int) async throws(S3Failure) -> ObjectContent? {
    guard let wanted else { return nil }
    let reading = Reading(reply, skipping: wanted.lowerBound - offset, count: wanted.count)
    guard wanted.count <= inlineBytesMax else {
      return ObjectContent(
        metadata: metadata, range: wanted,
        source: .stream { () async throws(FileStoreError) in
          do throws(HTTPClientError) {
            return try await reading.next()
          } catch {
            throw S3Failure(error).fileStoreError(about: .object)
          }
        })
    }
    var bytes: [UInt8] = []
    do throws(HTTPClientError) {
      while let piece = try await reading.next() { bytes += piece }
    } catch {
      throw S3Failure(error)
    }
    guard bytes.count == wanted.count else { throw S3Failure(.answerTruncated) }
    return ObjectContent(metadata: metadata, range: wanted, source: .bytes(bytes))
  }

  /// The wanted bytes of the answer. It goes on to the end, so that the connection can be used
  /// again, where that is near.
  private final class Reading: Sendable {
    private let reply: S3Reply
    private let rest: Mutex<(skip: Int, count: Int)>

    init(_ reply: S3Reply, skipping skip: Int, count: Int) {
      self.reply = reply
      rest = Mutex((skip, count))
    }

    func next() async throws(HTTPClientError) -> [UInt8]? {
      while let piece = try await reply.next() {
        let wanted = rest.withLock { rest in
          let skipped = min(rest.skip, piece.count)
          let taken = min(rest.count, piece.count - skipped)
          rest.skip -= skipped
          rest.count -= taken
          return piece[skipped..<(skipped + taken)]
        }
        if wanted.count == piece.count { return piece }
        if !wanted.isEmpty { return Array(wanted) }
        if rest.withLock({ $0.skip == 0 && $0.count == 0 }), !piece.isEmpty { return nil }
      }
      return nil
    }
  }
}
