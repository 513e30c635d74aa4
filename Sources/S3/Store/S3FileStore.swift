import Files
import HTTPTypes
import HTTPWire
package import Model

/// Keeps objects in an S3-compatible service, and answers as the store on our own disk would.
///
/// Nothing is kept here: what the service says is what is there, since others may write to it too.
package struct S3FileStore: FileStore {
  let client: S3Client
  /// Those whose old uploads are given up. Others of the same account are not ours to clean.
  let sweptBuckets: [BucketName]

  package init(client: S3Client, sweptBuckets: [BucketName]) {
    self.client = client
    self.sweptBuckets = sweptBuckets
  }

  var limits: S3StoreLimits { client.settings.limits }

  /// Runs requests and names their failure as a file store's.
  func asking<Answer>(
    about subject: S3Subject, _ body: () async throws(S3Failure) -> Answer
  ) async throws(FileStoreError) -> Answer {
    do throws(S3Failure) {
      return try await body()
    } catch {
      throw error.fileStoreError(about: subject)
    }
  }

  /// Sends a request and reads its answer.
  @discardableResult
  func ask(
    _ request: S3Request, about subject: S3Subject
  ) async throws(FileStoreError) -> S3Response {
    try await asking(about: subject) { () async throws(S3Failure) in
      try await client.perform(request)
    }
  }

  /// The moment of an answer, which is what the service writes down as the time of a change.
  func moment(of answer: S3Response) -> Timestamp {
    let date = answer.fields[.date].flatMap {
      HTTPDate($0, now: HTTPDate(secondsSince1970: client.clock.now().milliseconds / 1000))
    }
    return date.map { Timestamp(milliseconds: $0.secondsSince1970 * 1000) } ?? client.clock.now()
  }
}
