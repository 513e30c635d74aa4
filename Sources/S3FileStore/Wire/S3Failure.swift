import HTTPClient
import HTTPTypes
import HTTPWire
import Model
import S3Wire

/// The error of a request, as reported by the service, or of the transport.
struct S3Failure: Error, Sendable {
  /// Error codes that are worth another attempt, whatever the status.
  private static let passingCodes: Set<String> = [
    "BandwidthLimitExceeded", "Busy", "InternalError", "PriorRequestNotComplete",
    "RequestLimitExceeded", "RequestTimeout", "RequestTimeoutException", "ServiceUnavailable",
    "SlowDown", "Throttling", "ThrottlingException", "TooManyRequestsException",
  ]

  /// Nil if there was no response.
  var status: Int?
  /// `NoSuchKey` and the like; empty in responses to HEAD.
  var code = ""
  var message = ""
  /// The region of the bucket, if the service reports it.
  var region: String?
  var retryAfter: Duration?
  /// The service's clock.
  var date: HTTPDate?
  var transport: HTTPClientError?
  /// Requests that were sent, this one included.
  var attempts = 1

  init(_ error: HTTPClientError) {
    transport = error
    if case .breakerOpen(let rest) = error { retryAfter = rest }
  }

  /// Creates the failure of an invalid response.
  init(unreadable reason: String) {
    status = 500
    message = reason
  }

  /// - Parameters:
  ///   - error: the root element of the document; nil if there is none.
  ///   - now: this service's clock.
  init(status: Int, error: XMLElement?, fields: HTTPFields, now: HTTPDate) {
    self.status = status
    code = error?["Code"]?.text ?? ""
    message = error?["Message"]?.text ?? ""
    let bucketRegion = HTTPField.Name("x-amz-bucket-region").flatMap { fields[$0] }
    region = (bucketRegion ?? error?["Region"]?.text).flatMap {
      S3Region.isName($0) ? $0 : nil
    }
    retryAfter = fields[.retryAfter].flatMap { RetryAfter.wait($0, now: now) }
    date = fields[.date].flatMap {
      HTTPDate($0, now: HTTPDate(secondsSince1970: 0))
    }
  }

  /// Whether the same request can succeed later. All requests are idempotent.
  var isPassing: Bool {
    switch transport {
    case .none:
      return [500, 502, 503, 504].contains(status) || Self.passingCodes.contains(code)
    case .connectFailed, .connectTimedOut, .noResponseInTime, .connectionLost, .responseTruncated:
      return true
    default:
      return false
    }
  }

  /// Whether the bucket may be in another region.
  var isElsewhere: Bool {
    status == 301 || status == 307 || status == 400
  }
}

extension S3Failure {
  /// Converts the failure to the error that the store on disk would report.
  func fileStoreError(about subject: S3Subject) -> FileStoreError {
    if let transport { return Self.error(for: transport, retryAfter: retryAfter) }
    return errorByCode ?? errorByStatus(about: subject)
  }

  private static func error(
    for transport: HTTPClientError, retryAfter: Duration?
  ) -> FileStoreError {
    switch transport {
    case .cancelled: .disconnected
    case .invalidRequest(let part): .other("a request to the S3 service has an invalid \(part)")
    case .responseTooLarge, .responseMalformed, .responseUndecodable: .other("\(transport)")
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
    default: .other("the S3 service responded \(status ?? 0) \(code) \(message)")
    }
  }
}

/// The subject of a request, which is missing if the response is a bare 404.
enum S3Subject: Sendable {
  case service
  case bucket
  case object
  case upload
}
