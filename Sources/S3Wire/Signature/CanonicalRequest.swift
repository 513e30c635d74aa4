package import HTTPWire

/// A request in the canonical form that its signature is computed over.
package struct CanonicalRequest: Hashable, Sendable {
  /// A field of the request. Its name can be in any case.
  package struct Field: Hashable, Sendable {
    package var name: String
    package var value: String

    package init(_ name: String, _ value: String) {
      self.name = name
      self.value = value
    }
  }

  /// The signed names in lower case, sorted.
  package let signedFields: [String]
  package let text: String

  /// - Parameters:
  ///   - path: encoded: the bytes to send (``S3Encoding/path(_:)``), or the canonical form of a
  ///     received path (``S3Encoding/canonicalPath(_:)``).
  ///   - query: decoded, without `X-Amz-Signature`.
  ///   - fields: only those to sign. Fields of the same name are joined by commas, in their order.
  package init(
    method: String, path: String, query: [QueryString.Parameter] = [], fields: [Field],
    payload: PayloadHash
  ) {
    var values: [String: [String]] = [:]
    for field in fields {
      values[field.name.lowercased(), default: []].append(Self.trimmed(field.value))
    }
    signedFields = values.keys.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    let lines = signedFields.map { "\($0):\(values[$0, default: []].joined(separator: ","))\n" }
    text = [
      method, path, S3Encoding.canonicalQuery(query), lines.joined(),
      signedFields.joined(separator: ";"), payload.text,
    ].joined(separator: "\n")
  }

  /// The text that the signature is computed over.
  package func stringToSign(at time: SignatureTime, scope: SignatureScope) -> String {
    [SignatureAlgorithm.name, time.text, scope.text, SignatureDigest.of(text)]
      .joined(separator: "\n")
  }

  /// A value without blanks at its ends, and with each run of blanks replaced by one space.
  private static func trimmed(_ value: String) -> String {
    value.utf8.split { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
      .map { Substring($0) }
      .joined(separator: " ")
  }
}

/// The description of a request's content in its signature: the last line of the canonical request, and
/// the value of `x-amz-content-sha256`.
package enum PayloadHash: Hashable, Sendable {
  /// The content's SHA-256, as 64 lower-case hexadecimal digits.
  case sha256(String)
  /// The content is not signed, as in every presigned URL.
  case unsigned
  /// The content is sent in chunks, each of which is signed.
  case signedChunks
  /// The content is sent in chunks; each chunk and the trailer are signed.
  case signedChunksAndTrailer
  /// The content is sent in chunks with a trailer; neither is signed.
  case unsignedChunksAndTrailer

  package static let empty = sha256(SignatureDigest.empty)

  package init(of content: [UInt8]) {
    self = .sha256(SignatureDigest.of(content))
  }

  /// Reads ``text``.
  package init?(_ text: some StringProtocol) {
    switch text {
    case "UNSIGNED-PAYLOAD": self = .unsigned
    case "STREAMING-AWS4-HMAC-SHA256-PAYLOAD": self = .signedChunks
    case "STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER": self = .signedChunksAndTrailer
    case "STREAMING-UNSIGNED-PAYLOAD-TRAILER": self = .unsignedChunksAndTrailer
    default:
      guard text.utf8.count == 64, text.utf8.allSatisfy(Self.isDigit) else { return nil }
      self = .sha256(String(text))
    }
  }

  package var text: String {
    switch self {
    case .sha256(let digits): digits
    case .unsigned: "UNSIGNED-PAYLOAD"
    case .signedChunks: "STREAMING-AWS4-HMAC-SHA256-PAYLOAD"
    case .signedChunksAndTrailer: "STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER"
    case .unsignedChunksAndTrailer: "STREAMING-UNSIGNED-PAYLOAD-TRAILER"
    }
  }

  /// Whether the content is in the framing named `aws-chunked`.
  package var isChunked: Bool {
    switch self {
    case .sha256, .unsigned: false
    case .signedChunks, .signedChunksAndTrailer, .unsignedChunksAndTrailer: true
    }
  }

  private static func isDigit(_ byte: UInt8) -> Bool {
    (0x30...0x39).contains(byte) || (0x61...0x66).contains(byte)
  }
}

/// The percent-encoding of signed requests: every byte except letters, digits and `-._~` is encoded once,
/// with upper-case digits. Paths are not normalised: `//`, `/./` and `%2F` stay as they are.
package enum S3Encoding {
  /// Encodes a path. Slashes are not encoded.
  package static func path(_ text: some StringProtocol) -> String {
    Substring(text).utf8
      .split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
      .map { PercentCoding.encode(Substring($0)) }
      .joined(separator: "/")
  }

  /// Encodes a name or a value of a query. Slashes are encoded too.
  package static func query(_ text: some StringProtocol) -> String {
    PercentCoding.encode(text)
  }

  /// The canonical form of a received path, which can be encoded in any way.
  ///
  /// - Returns: nil if a `%` is not followed by two digits, or the path is not valid UTF-8.
  package static func canonicalPath(_ wirePath: some StringProtocol) -> String? {
    PercentCoding.decode(wirePath).map { path($0) }
  }

  /// The canonical form of a query: encoded, then sorted by name and value. A name without a value has
  /// an empty one.
  package static func canonicalQuery(
    _ parameters: some Sequence<QueryString.Parameter>
  ) -> String {
    parameters.map { (query($0.name), query($0.value)) }
      .sorted { $0.0 == $1.0 ? precedes($0.1, $1.1) : precedes($0.0, $1.0) }
      .map { "\($0.0)=\($0.1)" }
      .joined(separator: "&")
  }

  private static func precedes(_ left: String, _ right: String) -> Bool {
    left.utf8.lexicographicallyPrecedes(right.utf8)
  }
}
