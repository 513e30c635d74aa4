import Model

extension FileStoreError {
  /// The problem reported to clients.
  var failure: Failure {
    switch self {
    case .noSuchBucket: Failure(.noSuchBucket, "The bucket does not exist.")
    case .noSuchKey: Failure(.notFound, "The object does not exist.")
    case .noSuchUpload: Failure(.noSuchUpload, "The upload does not exist, or has ended.")
    case .bucketExists: Failure(.bucketExists, "A bucket with this name already exists.")
    case .bucketNotEmpty: Failure(.bucketNotEmpty, "The bucket is not empty.")
    case .notModified, .preconditionFailed:
      Failure(.preconditionFailed, "A precondition of the request failed.")
    case .conflict:
      Failure(
        .writeConflict, "A concurrent write of the same key interfered; retry.", retry: .after)
    case .rangeNotSatisfiable(let size):
      Failure(.rangeNotSatisfiable, "The object has \(size) bytes.")
    case .digestMismatch(let algorithm):
      Failure(
        .digestMismatch, "The content's \(algorithm.rawValue) does not match the request's.",
        retry: .sameKey)
    case .sizeMismatch(let size):
      Failure(
        .malformedRequest,
        "The parts have \(size) bytes in total, which is not the size that the request states.")
    case .tooLarge(let bytesMax):
      Failure(.bodyTooLarge, "The content exceeds \(bytesMax) bytes; use a multipart upload.")
    case .incomplete:
      Failure(
        .bodyIncomplete, "The content's length differs from the announced length.", retry: .sameKey)
    case .disconnected:
      Failure(
        .bodyIncomplete, "The connection closed before the content was complete.", retry: .sameKey)
    case .refused(let refusal): refusal.failure
    case .partNumberInvalid:
      Failure(
        .invalidPart,
        "Part numbers are \(UploadPart.numbers.lowerBound) to \(UploadPart.numbers.upperBound)."
      )
    case .partInvalid(let number):
      Failure(.invalidPart, "Part \(number) does not exist, or its ETag differs.")
    case .partOrderInvalid:
      Failure(
        .invalidPartOrder,
        "Parts must be listed in ascending order, and there must be at least one.")
    case .partTooSmall(let number, let bytesMin):
      Failure(
        .partTooSmall,
        "Part \(number) is smaller than \(bytesMin) bytes and is not the last.")
    case .metadataTooLarge(let bytesMax):
      Failure(.metadataTooLarge, "The metadata exceeds \(bytesMax) bytes.")
    case .quotaExceeded(.bucket): Failure(.quotaExceeded, "The bucket's quota is exceeded.")
    case .quotaExceeded(.owner): Failure(.quotaExceeded, "Your quota in this bucket is exceeded.")
    case .storageFull:
      Failure(.storageFull, "The disk is full.", retry: .after)
    case .notWritable(let reason):
      Failure(
        .filesUnavailable, "The file could not be stored: \(reason).", retry: .after,
        retryAfter: .seconds(5), cause: reason)
    case .unavailable(let retryAfter):
      Failure(
        .filesUnavailable, "The file store is unavailable; retry later.", retry: .after,
        retryAfter: retryAfter)
    case .denied: Failure(.filesRefused, "The remote file store denied the request.")
    case .unsupported: Failure(.notImplemented, "The file store does not support this.")
    case .other(let cause): Failure(.internal, "The file store failed.", cause: cause)
    }
  }
}

extension UploadRefusal {
  fileprivate var failure: Failure {
    switch self {
    case .signature: Failure(.signatureInvalid, "The content's signature is invalid.")
    case .framing: Failure(.bodyIncomplete, "The content's chunk framing is malformed.")
    case .trailer:
      Failure(.malformedRequest, "The trailer does not match the announced one.")
    }
  }
}

/// Runs an operation of the file store and converts its error for clients.
func failing<Value>(
  _ body: () async throws(FileStoreError) -> Value
) async throws(Failure) -> Value {
  do throws(FileStoreError) {
    return try await body()
  } catch {
    throw error.failure
  }
}
