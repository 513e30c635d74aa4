import Files
import HTTPClient
import HTTPTypes
import HTTPWire
import Model
import Synchronization

/// The response to a GET: the object, and the range of its bytes.
///
/// Not every service responds to a range with 206, and some send the whole object; bytes before and
/// after the requested range are skipped.
struct S3Opened: Sendable {
  private let metadata: ObjectMetadata
  /// Nil if the requested range does not exist.
  private let wanted: Range<Int>?
  /// The offset in the object at which the response's content begins.
  private let offset: Int
  private let reply: S3ClientReply

  /// - Parameter asked: the range of the request.
  init(_ key: ObjectKey, _ reply: S3ClientReply, asked: ByteRangeSet.Spec?) throws(S3Failure) {
    self.reply = reply
    let part = reply.fields[.contentRange].flatMap { ContentRange($0) }
    guard let metadata = S3StoredFields.metadata(of: key, reply.fields, size: part?.size) else {
      throw S3Failure(unreadable: "an object without a length")
    }
    self.metadata = metadata
    offset = part?.first ?? 0
    wanted = asked.map { $0.resolve(length: metadata.size) } ?? 0..<metadata.size
    guard part == nil || wanted.map({ $0.lowerBound >= offset }) ?? true else {
      throw S3Failure(unreadable: "a range other than the requested one")
    }
  }

  /// Length of the whole object.
  var size: Int { metadata.size }

  /// - Returns: nil if the range does not exist.
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
    guard bytes.count == wanted.count else { throw S3Failure(.responseTruncated) }
    return ObjectContent(metadata: metadata, range: wanted, source: .bytes(bytes))
  }

  /// Reads the requested bytes of the response, and up to its end if that is near, so that the connection
  /// can be reused.
  private final class Reading: Sendable {
    private let reply: S3ClientReply
    private let rest: Mutex<(skip: Int, count: Int)>

    init(_ reply: S3ClientReply, skipping skip: Int, count: Int) {
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
