import HTTPClient
import HTTPTypes
import HTTPWire
package import Model

/// Whole objects of a bucket that are written under conditions, which the service checks atomically with the write.
///
/// See "Conditional writes" in the S3 user guide: `If-None-Match: *` since August 2024, `If-Match` since November
/// 2024. A service that ignores the fields must be found out by its user.
package struct S3ConditionalObjects: Sendable {
  /// Content of an object that is read.
  private static let bytesMax = 64 << 20

  package enum Condition: Hashable, Sendable {
    /// There must be no object of the key.
    case absent
    /// The object must have this tag.
    case tag(String)
  }

  private let client: S3Client
  private let bucket: BucketName

  package init(client: S3Client, bucket: BucketName) {
    self.client = client
    self.bucket = bucket
  }

  /// Returns an object and its tag; nil if there is none.
  package func get(
    _ key: ObjectKey
  ) async throws(FileStoreError) -> (bytes: [UInt8], tag: String)? {
    do throws(S3Failure) {
      return try await client.perform(S3ClientRequest(.get, bucket, key)) {
        reply, _ throws(S3Failure) in
        let bytes: [UInt8]
        do throws(HTTPClientError) {
          bytes = try await reply.rest(bytesMax: Self.bytesMax)
        } catch {
          throw S3Failure(error)
        }
        return (bytes, Self.tag(reply.fields))
      }
    } catch {
      let failure = error.fileStoreError(about: .object)
      if failure == .noSuchKey { return nil }
      throw failure
    }
  }

  /// Writes an object.
  ///
  /// - Returns: its tag; nil if the condition does not hold, which can be due to an earlier attempt of the same call.
  package func put(
    _ key: ObjectKey, _ bytes: [UInt8], if condition: Condition
  ) async throws(FileStoreError) -> String? {
    var request = S3ClientRequest(.put, bucket, key)
    request.content = .bytes(bytes)
    switch condition {
    case .absent: request.set("if-none-match", "*")
    case .tag(let tag): request.set("if-match", tag)
    }
    do throws(S3Failure) {
      return Self.tag(try await client.perform(request).fields)
    } catch {
      // 409 if another write is under way; 404 for `If-Match` without an object.
      let failure = error.fileStoreError(about: .object)
      if [.preconditionFailed, .conflict, .noSuchKey].contains(failure) { return nil }
      throw failure
    }
  }

  /// Removes an object, if there is one.
  package func remove(_ key: ObjectKey) async throws(FileStoreError) {
    do throws(S3Failure) {
      _ = try await client.perform(S3ClientRequest(.delete, bucket, key))
    } catch {
      let failure = error.fileStoreError(about: .object)
      if failure != .noSuchKey { throw failure }
    }
  }

  /// With its quotation marks.
  private static func tag(_ fields: HTTPFields) -> String { fields[.eTag] ?? "" }
}
