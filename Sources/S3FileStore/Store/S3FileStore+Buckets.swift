import Files
import HTTPTypes
package import Model
import S3Wire

extension S3FileStore {
  /// The only region in which a bucket is created without naming the region.
  private static let defaultRegion = "us-east-1"

  package func createBucket(_ name: BucketName) async throws(FileStoreError) {
    // In the default region S3 reports success for an existing bucket of the same account.
    if try await has(name) { throw .bucketExists }
    var request = S3ClientRequest(.put, name)
    let region = client.settings.region
    if region != Self.defaultRegion {
      var writer = XMLWriter("CreateBucketConfiguration")
      writer.element("LocationConstraint", region)
      request.content = .bytes(writer.finished())
    }
    try await ask(request, about: .bucket)
  }

  package func buckets() async throws(FileStoreError) -> [BucketDescription] {
    try await asking(about: .service) { () async throws(S3Failure) in
      try await client.perform(S3ClientRequest(.get), document: "ListAllMyBucketsResult") {
        root, _ throws(S3Failure) in
        (root["Buckets"]?.all("Bucket") ?? []).compactMap(S3Documents.bucket)
          .sorted { $0.name.text < $1.name.text }
      }
    }
  }

  package func bucket(_ name: BucketName) async throws(FileStoreError) -> BucketDescription {
    guard try await has(name) else { throw .noSuchBucket }
    // Only the list of all buckets has the creation date, and not every account can read that.
    let listed = try? await buckets().first { $0.name == name }
    return listed ?? BucketDescription(name: name, created: Timestamp(milliseconds: 0))
  }

  package func deleteBucket(_ name: BucketName) async throws(FileStoreError) {
    guard try await list(name, ObjectListRequest(limit: 1)).items.isEmpty else {
      throw .bucketNotEmpty
    }
    // Not every service removes unfinished uploads with the bucket.
    while true {
      let page = try await uploads(in: name, prefix: "", after: nil, limit: .max)
      for upload in page.uploads {
        do throws(FileStoreError) {
          try await abortUpload(upload.address)
        } catch {
          guard error == .noSuchUpload else { throw error }
        }
      }
      guard page.hasMore, !page.uploads.isEmpty else { break }
    }
    try await ask(S3ClientRequest(.delete, name), about: .bucket)
  }

  func has(_ name: BucketName) async throws(FileStoreError) -> Bool {
    do throws(FileStoreError) {
      try await ask(S3ClientRequest(.head, name), about: .bucket)
      return true
    } catch {
      guard error == .noSuchBucket else { throw error }
      return false
    }
  }

  /// Returns empty settings: the service's own are managed by its operators.
  package func settings(of bucket: BucketName) async throws(FileStoreError) -> BucketSettings {
    guard try await has(bucket) else { throw .noSuchBucket }
    return BucketSettings()
  }

  package func changeSettings(
    of bucket: BucketName, _ change: @escaping @Sendable (inout BucketSettings) -> Void
  ) async throws(FileStoreError) {
    throw .unsupported
  }
}
