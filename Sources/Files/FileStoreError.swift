import Glibc
package import Model
import Storage

/// Why an operation of a file store failed. Nothing was changed.
package enum FileStoreError: Error, Sendable, Hashable {
  // The target.
  case noSuchBucket
  case noSuchKey
  case noSuchUpload
  case bucketExists
  case bucketNotEmpty

  // Conditions and ranges.
  /// Not a failure: the client's copy is current.
  case notModified(ObjectMetadata)
  case preconditionFailed
  /// Another write of the same key came first: retry.
  case conflict
  case rangeNotSatisfiable(size: Int)

  // The content.
  case digestMismatch(ContentDigest.Algorithm)
  /// The total size of the parts differs from the one that the client stated.
  case sizeMismatch(size: Int)
  /// The content is larger than an object or part can be.
  case tooLarge(bytesMax: Int)
  /// The content ended before its announced length.
  case incomplete
  /// The client disconnected, or the request was cancelled; nothing waits for the result.
  case disconnected
  /// The content is not in the form that the request declared: a chunk's signature, its framing.
  case refused(UploadRefusal)

  // Parts.
  case partNumberInvalid
  /// A part that does not exist or has another tag.
  case partInvalid(number: Int)
  /// Part numbers do not ascend, or there are none.
  case partOrderInvalid
  /// A part other than the last that is smaller than allowed.
  case partTooSmall(number: Int, bytesMin: Int)
  case metadataTooLarge(bytesMax: Int)

  // The store.
  case quotaExceeded(QuotaKind)
  case storageFull
  /// The disk is not writable at present, for the given reason.
  case notWritable(reason: String)
  /// The service cannot be reached, is closed, or asks to retry later.
  case unavailable(retryAfter: Duration?)
  /// The service does not accept our credentials, or denies the operation.
  case denied
  case unsupported
  /// An internal failure, with a text for the log.
  case other(String)

  package enum QuotaKind: Sendable, Hashable {
    case bucket
    case owner
  }
}

extension FileStoreError {
  init(_ error: StorageError) {
    switch error {
    case .full: self = .storageFull
    case .closed, .tooCostly, .overloaded: self = .unavailable(retryAfter: nil)
    case .readOnly: self = .notWritable(reason: "the file system of the database is read-only")
    case .moved: self = .notWritable(reason: "the database was removed")
    case .inUse, .newerSchema, .cannotOpen, .noDatabase, .otherDatabase, .corrupt, .failed:
      self = .other("\(error)")
    }
  }

  init(_ error: DiskError) {
    if error.isFull {
      self = .storageFull
    } else if let reason = error.passingReason {
      self = .notWritable(reason: reason)
    } else {
      self = .other("\(error)")
    }
  }

  init(_ kind: FileQuotaKind) {
    switch kind {
    case .bucket: self = .quotaExceeded(.bucket)
    case .owner: self = .quotaExceeded(.owner)
    }
  }
}

/// Runs an operation of the index, and converts its errors.
func indexed<Result>(
  _ body: () async throws(StorageError) -> Result
) async throws(FileStoreError) -> Result {
  do throws(StorageError) {
    return try await body()
  } catch {
    throw FileStoreError(error)
  }
}

/// A failed system call on a file, with its error number.
struct DiskError: Error, Hashable, CustomStringConvertible {
  let call: String
  let code: Int32

  init(_ call: String, code: Int32 = errno) {
    self.call = call
    self.code = code
  }

  var description: String { "\(call): error \(code)" }

  /// Whether the disk is full, or the user's quota on the file system is exhausted.
  var isFull: Bool { code == ENOSPC || code == EDQUOT || code == EFBIG }

  /// Why the disk is not writable at present, if the same call can succeed later; nil otherwise.
  var passingReason: String? {
    switch code {
    case EROFS: "the file system is read-only"
    case EMFILE, ENFILE: "too many files are open"
    case EIO: "the disk reports an I/O error"
    case EACCES: "no permission to write to the folder of the files"
    default: nil
    }
  }

  var isAbsent: Bool { code == ENOENT }
}

extension DiskError {
  /// Whether no further link is possible: the file system has no links, or the file has the maximum.
  var isBeyondLinks: Bool {
    code == EMLINK || code == EPERM || code == EXDEV || code == EOPNOTSUPP
  }
}

/// How content violates the form that the request declared.
package enum UploadRefusal: Error, Sendable, Hashable {
  /// The signature of a chunk or a trailer is invalid.
  case signature
  /// The framing of the content is malformed.
  case framing
  /// A digest after the content is malformed, or not the announced one.
  case trailer
}
