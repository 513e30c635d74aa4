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

  /// Runs a write under a condition, which fails as it does in S3: where it asks for an object and
  /// there is none, whoever writes hears just that.
  ///
  /// Looked up after the write was refused, so that nothing is asked twice where all is well.
  package func asS3<Answer>(
    _ condition: WriteCondition, on address: ObjectAddress, by caller: Caller,
    _ write: () async throws(Failure) -> Answer
  ) async throws(Failure) -> Answer {
    do throws(Failure) {
      return try await write()
    } catch {
      guard error.code == .preconditionFailed, !condition.holds(for: nil) else { throw error }
      _ = try await describe(address, by: .caller(caller))
      throw error
    }
  }
}
