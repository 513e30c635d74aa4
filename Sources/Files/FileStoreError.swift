package import Model

/// Why a file store did not do what was asked. Nothing was changed.
package enum FileStoreError: Error, Sendable, Hashable {
  // What was asked for.
  case noSuchBucket
  case noSuchKey
  case noSuchUpload
  case bucketExists
  case bucketNotEmpty

  // Conditions and ranges.
  /// Not a fault: the client's copy is current.
  case notModified(ObjectMetadata)
  case preconditionFailed
  /// Another write of the same key came between: try again.
  case conflict
  case rangeNotSatisfiable(size: Int)

  // The content.
  case digestMismatch(ContentDigest.Algorithm)
  /// The parts of an upload have other bytes together than the client states.
  case sizeMismatch(size: Int)
  /// More content than one object, or part, may have.
  case tooLarge(bytesMax: Int)
  /// The content ended before what was announced.
  case incomplete
  /// The client is gone, or the request's own task ended; nobody waits for an answer.
  case disconnected
  /// The content is not what the request promised: a chunk's signature, its framing.
  case refused(UploadRefusal)

  // Parts.
  case partNumberInvalid
  /// Names a part that is not there, or has another tag.
  case partInvalid(number: Int)
  /// Part numbers do not ascend, or there are none.
  case partOrderInvalid
  /// Smaller than a part other than the last may be.
  case partTooSmall(number: Int, bytesMin: Int)
  case metadataTooLarge(bytesMax: Int)

  // The store.
  case quotaExceeded(QuotaKind)
  case storageFull
  /// The disk takes no files at present, for the reason in words.
  case notWritable(reason: String)
  /// The store behind cannot be reached, is closed, or asks to come back later.
  case unavailable(retryAfter: Duration?)
  /// The store behind does not take our credentials, or will not do this.
  case denied
  case unsupported
  /// What cannot be helped by asking otherwise; for the log.
  case other(String)

  package enum QuotaKind: Sendable, Hashable {
    case bucket
    case owner
  }
}
