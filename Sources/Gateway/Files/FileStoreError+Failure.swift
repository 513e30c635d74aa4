import Files
import Model

extension FileStoreError {
  /// In words for clients.
  var failure: Failure {
    switch self {
    case .noSuchBucket: Failure(.noSuchBucket, "There is no such bucket.")
    case .noSuchKey: Failure(.notFound, "There is no such object.")
    case .noSuchUpload: Failure(.noSuchUpload, "There is no such upload: it is over.")
    case .bucketExists: Failure(.bucketExists, "There is a bucket of that name.")
    case .bucketNotEmpty: Failure(.bucketNotEmpty, "The bucket holds objects.")
    case .notModified, .preconditionFailed:
      Failure(.preconditionFailed, "A condition of the request does not hold.")
    case .conflict:
      Failure(.writeConflict, "Another write of the same key came between.", retry: .after)
    case .rangeNotSatisfiable(let size):
      Failure(.rangeNotSatisfiable, "The object has \(size) bytes.")
    case .digestMismatch(let algorithm):
      Failure(
        .digestMismatch, "The content's \(algorithm.rawValue) is not the one the request gives.",
        retry: .sameKey)
    case .sizeMismatch(let size):
      Failure(
        .malformedRequest,
        "The parts have \(size) bytes together, which is not the size the request states.")
    case .tooLarge(let bytesMax):
      Failure(.bodyTooLarge, "More than \(bytesMax) bytes; upload the object in parts.")
    case .incomplete:
      Failure(
        .bodyIncomplete, "The content has another length than was announced.", retry: .sameKey)
    case .disconnected: Failure(.bodyIncomplete, "The content broke off.", retry: .sameKey)
    case .refused(let refusal): refusal.failure
    case .partNumberInvalid:
      Failure(
        .invalidPart,
        "Part numbers are \(UploadPart.numbers.lowerBound) to \(UploadPart.numbers.upperBound).")
    case .partInvalid(let number):
      Failure(.invalidPart, "Part \(number) is not there, or has another tag.")
    case .partOrderInvalid:
      Failure(.invalidPartOrder, "Parts are named in ascending order, and at least one is.")
    case .partTooSmall(let number, let bytesMin):
      Failure(
        .partTooSmall, "Part \(number) has fewer than \(bytesMin) bytes and is not the last.")
    case .metadataTooLarge(let bytesMax):
      Failure(.metadataTooLarge, "Metadata takes more than \(bytesMax) bytes.")
    case .quotaExceeded(.bucket): Failure(.quotaExceeded, "The bucket's quota is used up.")
    case .quotaExceeded(.owner): Failure(.quotaExceeded, "Your quota in this bucket is used up.")
    case .storageFull:
      Failure(.storageFull, "There is no room on the disk.", retry: .after)
    case .notWritable(let reason):
      Failure(
        .filesUnavailable, "The file could not be stored: \(reason).", retry: .after,
        retryAfter: .seconds(5), cause: reason)
    case .unavailable(let retryAfter):
      Failure(
        .filesUnavailable, "Files cannot be reached at the moment.", retry: .after,
        retryAfter: retryAfter)
    case .denied: Failure(.filesRefused, "The store behind this one refuses.")
    case .unsupported: Failure(.notImplemented, "The file store does not do this.")
    case .other(let cause): Failure(.internal, "The file store failed.", cause: cause)
    }
  }
}

extension UploadRefusal {
  fileprivate var failure: Failure {
    switch self {
    case .signature: Failure(.signatureInvalid, "The content is not signed as it should be.")
    case .framing: Failure(.bodyIncomplete, "The content's framing cannot be read.")
    case .trailer:
      Failure(.malformedRequest, "What trails the content is not what was announced.")
    }
  }
}

/// Runs an operation of the file store and puts its failure in words.
func failing<Answer>(
  _ body: () async throws(FileStoreError) -> Answer
) async throws(Failure) -> Answer {
  do throws(FileStoreError) {
    return try await body()
  } catch {
    throw error.failure
  }
}
