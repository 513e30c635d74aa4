import Files
import HTTPClient
import Model

extension S3Failure {
  /// What clients are told: what a store on our own disk would tell them.
  func fileStoreError(about subject: S3Subject) -> FileStoreError {
    if let transport { return Self.error(for: transport, retryAfter: retryAfter) }
    return errorByCode ?? errorByStatus(about: subject)
  }

  private static func error(
    for transport: HTTPClientError, retryAfter: Duration?
  ) -> FileStoreError {
    switch transport {
    case .cancelled: .disconnected
    case .invalidRequest(let part): .other("a request to the store has no valid \(part)")
    case .answerTooLarge, .answerMalformed, .answerUndecodable: .other("\(transport)")
    default: .unavailable(retryAfter: retryAfter)
    }
  }

  private var errorByCode: FileStoreError? {
    switch code {
    case "NoSuchBucket": .noSuchBucket
    case "NoSuchKey": .noSuchKey
    case "NoSuchUpload": .noSuchUpload
    case "BucketAlreadyExists", "BucketAlreadyOwnedByYou": .bucketExists
    case "BucketNotEmpty": .bucketNotEmpty
    case "PreconditionFailed": .preconditionFailed
    case "ConditionalRequestConflict", "OperationAborted": .conflict
    case "BadDigest", "InvalidDigest": .digestMismatch(.md5)
    case "XAmzContentSHA256Mismatch": .digestMismatch(.sha256)
    case "EntityTooLarge": .tooLarge(bytesMax: UploadContent.bytesMax)
    case "IncompleteBody": .incomplete
    case "InvalidPartOrder": .partOrderInvalid
    case "MetadataTooLarge": .metadataTooLarge(bytesMax: ObjectAttributes.customBytesMax)
    case "NotImplemented", "MethodNotAllowed": .unsupported
    case "QuotaExceeded", "XMinioStorageFull": .storageFull
    case "SlowDown", "ServiceUnavailable", "Busy": .unavailable(retryAfter: retryAfter)
    default: nil
    }
  }

  private func errorByStatus(about subject: S3Subject) -> FileStoreError {
    switch (status ?? 0, subject) {
    case (404, .bucket): .noSuchBucket
    case (404, .object): .noSuchKey
    case (404, .upload): .noSuchUpload
    case (401, _), (403, _): .denied
    case (409, _): .conflict
    case (412, _): .preconditionFailed
    case (413, _): .tooLarge(bytesMax: UploadContent.bytesMax)
    case (501, _): .unsupported
    case (507, _): .storageFull
    case (429, _), (502, _), (503, _), (504, _): .unavailable(retryAfter: retryAfter)
    default: .other("the store answered \(status ?? 0) \(code) \(message)")
    }
  }
}
