import Files
import Model

extension S3FileStore {
  /// Judges a condition by what is there now, to spare the client the sending, and puts it in the
  /// request, where the service judges it again in the step that writes.
  func put(
    _ condition: WriteCondition, on existing: ObjectMetadata?, in request: inout S3Request
  ) throws(FileStoreError) {
    guard condition.holds(for: existing?.state) else { throw .preconditionFailed }
    guard condition != .none else { return }
    // S3 knows one tag, or that there is no object: what was judged must still be there.
    if let existing {
      request.set("if-match", "\"\(existing.tag)\"")
    } else {
      request.set("if-none-match", "*")
    }
  }

  /// Nobody counts here what a bucket holds, so that a quota could not be kept.
  func admit(_ quota: FileQuota) throws(FileStoreError) {
    guard quota.bucketBytesMax == nil, quota.ownerBytesMax == nil else { throw .unsupported }
  }

  func admit(_ attributes: ObjectAttributes?) throws(FileStoreError) {
    guard attributes?.customBytes ?? 0 <= ObjectAttributes.customBytesMax else {
      throw .metadataTooLarge(bytesMax: ObjectAttributes.customBytesMax)
    }
  }
}
