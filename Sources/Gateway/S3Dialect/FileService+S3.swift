import Files
package import Model

extension FileService {
  /// The buckets that a request may see: those that its key is for and its caller may list in.
  package func buckets(within grant: S3Grant) async throws(Failure) -> [BucketDescription] {
    guard grant.caller.isAdmin || grant.caller.user != nil else {
      throw Failure(.unauthenticated, "Buckets are listed for signed requests.")
    }
    let all = try await failing { () async throws(FileStoreError) in try await store.buckets() }
    return all.filter { bucket in
      grant.reaches(bucket.name)
        && (try? gate.admitListing(grant.caller, of: bucket.name, prefix: "")) != nil
    }
  }
}
