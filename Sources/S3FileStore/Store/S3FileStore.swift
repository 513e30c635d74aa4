import Files
import HTTPTypes
import HTTPWire
package import Model

/// A file store in an S3-compatible service, with the behaviour of the store on disk.
///
/// It caches nothing: the service is the only source of truth, since others can write to it too.
package struct S3FileStore: FileStore {
  let client: S3Client
  /// The buckets whose old uploads are aborted. Other buckets of the account are left alone.
  let sweptBuckets: [BucketName]

  package init(client: S3Client, sweptBuckets: [BucketName]) {
    self.client = client
    self.sweptBuckets = sweptBuckets
  }

  var limits: S3StoreLimits { client.settings.limits }

  /// Runs requests, and converts their errors.
  func asking<Result>(
    about subject: S3Subject, _ body: () async throws(S3Failure) -> Result
  ) async throws(FileStoreError) -> Result {
    do throws(S3Failure) {
      return try await body()
    } catch {
      throw error.fileStoreError(about: subject)
    }
  }

  /// Sends a request and reads its response.
  @discardableResult
  func ask(
    _ request: S3ClientRequest, about subject: S3Subject
  ) async throws(FileStoreError) -> S3Response {
    try await asking(about: subject) { () async throws(S3Failure) in
      try await client.perform(request)
    }
  }

  /// Returns the `Date` of a response, which the service records as the time of a change.
  func moment(of response: S3Response) -> Timestamp {
    let date = response.fields[.date].flatMap {
      HTTPDate($0, now: HTTPDate(secondsSince1970: client.clock.now().milliseconds / 1000))
    }
    return date.map { Timestamp(milliseconds: $0.secondsSince1970 * 1000) } ?? client.clock.now()
  }
}
