package import Files
import HTTPTypes
package import Model
import S3Wire

extension S3FileStore {
  /// The one region where a bucket is made without naming it.
  private static let defaultRegion = "us-east-1"

  package func createBucket(_ name: BucketName) async throws(FileStoreError) {
    // In the default region S3 answers as if a bucket of one's own had just been made.
    if try await has(name) { throw .bucketExists }
    var request = S3Request(.put, name)
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
      try await client.perform(S3Request(.get), document: "ListAllMyBucketsResult") {
        root, _ throws(S3Failure) in
        (root["Buckets"]?.all("Bucket") ?? []).compactMap(S3Documents.bucket)
          .sorted { $0.name.text < $1.name.text }
      }
    }
  }

  package func bucket(_ name: BucketName) async throws(FileStoreError) -> BucketDescription {
    guard try await has(name) else { throw .noSuchBucket }
    // Only the list of all tells when it was made, and not everybody may read that.
    let listed = try? await buckets().first { $0.name == name }
    return listed ?? BucketDescription(name: name, created: Timestamp(milliseconds: 0))
  }

  package func deleteBucket(_ name: BucketName) async throws(FileStoreError) {
    guard try await uploads(in: name, prefix: "", after: nil, limit: 1).uploads.isEmpty else {
      throw .bucketNotEmpty
    }
    try await ask(S3Request(.delete, name), about: .bucket)
  }

  func has(_ name: BucketName) async throws(FileStoreError) -> Bool {
    do throws(FileStoreError) {
      try await ask(S3Request(.head, name), about: .bucket)
      return true
    } catch {
      guard error == .noSuchBucket else { throw error }
      return false
    }
  }
}
