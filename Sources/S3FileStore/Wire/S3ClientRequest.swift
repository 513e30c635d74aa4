import HTTPClient
import HTTPTypes
import HTTPWire
import Model
import S3Wire

/// A request to the service, before it is addressed and signed.
struct S3ClientRequest: Sendable {
  enum Content: Sendable {
    case bytes([UInt8])
    /// Read while it is sent, so that it cannot be repeated.
    case stream(HTTPClientContent)
  }

  var method: HTTPRequest.Method
  var bucket: BucketName?
  var key: ObjectKey?
  var query: [QueryString.Parameter] = []
  /// Header fields, all of which are signed.
  var fields: [CanonicalRequest.Field] = []
  var content = Content.bytes([])

  init(
    _ method: HTTPRequest.Method, _ bucket: BucketName? = nil, _ key: ObjectKey? = nil,
    query: [(String, String)] = []
  ) {
    self.method = method
    self.bucket = bucket
    self.key = key
    self.query = query.map { QueryString.Parameter(name: $0.0, value: $0.1) }
  }

  init(_ method: HTTPRequest.Method, _ address: ObjectAddress, query: [(String, String)] = []) {
    self.init(method, address.bucket, address.key, query: query)
  }

  mutating func set(_ name: String, _ value: String?) {
    if let value { fields.append(CanonicalRequest.Field(name, value)) }
  }

  var canBeSentAgain: Bool {
    switch content {
    case .bytes: true
    case .stream: false
    }
  }
}
