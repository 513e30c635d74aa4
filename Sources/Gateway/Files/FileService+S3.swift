import Files
package import Model

extension FileService {
  /// The buckets visible to a request: those in its key's scope that its caller can list.
  package func buckets(within grant: S3Grant) async throws(Failure) -> [BucketDescription] {
    guard grant.caller.isAdmin || grant.caller.user != nil else {
      throw Failure(.unauthenticated, "Listing buckets requires a signed request.")
    }
    let all = try await failing { () async throws(FileStoreError) in try await store.buckets() }
    return all.filter { bucket in
      grant.reaches(bucket.name)
        && (try? gate.admitListing(grant.caller, of: bucket.name, prefix: "")) != nil
    }
  }

  /// Runs a conditional write with S3's errors: if the condition requires an existing object and
  /// there is none, the write fails with "no such key".
  ///
  /// The object is looked up only after the write was refused, so that successful writes need no
  /// second query.
  package func asS3<Value>(
    _ condition: WriteCondition, on address: ObjectAddress, by caller: Caller,
    _ write: () async throws(Failure) -> Value
  ) async throws(Failure) -> Value {
    do throws(Failure) {
      return try await write()
    } catch {
      guard error.code == .preconditionFailed, !condition.holds(for: nil) else { throw error }
      _ = try await describe(address, by: .caller(caller))
      throw error
    }
  }
}
