import Cryptography
import Glibc
import Model
import Storage
import Transport

extension FileStoreError {
  init(_ error: StorageError) {
    switch error {
    case .full: self = .storageFull
    case .closed, .tooCostly, .overloaded, .notLeader, .logUnavailable, .logInDoubt:
      self = .unavailable(retryAfter: nil)
    case .readOnly: self = .notWritable(reason: "the file system of the database is read-only")
    case .moved: self = .notWritable(reason: "the database was removed")
    case .inUse, .newerSchema, .cannotOpen, .noDatabase, .otherDatabase, .corrupt, .failed,
      .diverged, .otherTables, .inCluster:
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
struct DiskError: Error, FrameFault, Hashable, CustomStringConvertible {
  let call: String
  let code: Int32
  /// The stored file that was read, for operators; nil for other calls.
  private(set) var blob: BlobName?

  init(_ call: String, code: Int32 = errno) {
    self.call = call
    self.code = code
  }

  init(_ error: SystemError) {
    self.init("\(error.call)", code: error.code)
  }

  /// Content that was altered, cut off, or encrypted with another key.
  init(_ fault: AES.GCM.Fault) {
    self.init("decrypt", code: EBADMSG)
  }

  /// The same error, with the stored file that was read.
  func reading(_ blob: BlobName?) -> DiskError {
    var named = self
    named.blob = blob ?? self.blob
    return named
  }

  var description: String {
    let reason =
      switch code {
      case EBADMSG: "the content was altered, cut off, or encrypted with another key"
      case ENOSPC: "the disk is full"
      case EDQUOT: "the user's quota on the disk is exhausted"
      default: "error \(code)"
      }
    return "\(blob.map { "stored file \($0.text): " } ?? "")\(call): \(reason)"
  }

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
