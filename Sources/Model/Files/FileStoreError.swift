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

/// How content violates the form that the request declared.
package enum UploadRefusal: Error, Sendable, Hashable {
  /// The signature of a chunk or a trailer is invalid.
  case signature
  /// The framing of the content is malformed.
  case framing
  /// A digest after the content is malformed, or not the announced one.
  case trailer
}
