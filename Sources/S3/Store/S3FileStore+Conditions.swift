import Files
import Model

extension S3FileStore {
  /// Judges a condition by what is there now, to spare the client the sending, and puts it in the
  /// request, where the service judges it again in the step that writes.
  func put(
    _ condition: WriteCondition, on existing: ObjectMetadata?, in request: inout S3Request
  ) throws(FileStoreError) {
    guard condition.holds(for: existing?.tag) else { throw .preconditionFailed }
    switch condition {
    case .none: return
    case .absent: request.set("if-none-match", "*")
    // S3 knows no list of tags, and no `*`: what is there now must still be there.
    case .present, .tagged: request.set("if-match", existing.map { "\"\($0.tag)\"" })
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
