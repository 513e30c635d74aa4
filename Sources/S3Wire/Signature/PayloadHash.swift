/// What a signature says of a request's content: the last line of the canonical request, and the
/// field `x-amz-content-sha256`.
package enum PayloadHash: Hashable, Sendable {
  /// The content's SHA-256, as 64 lower-case hexadecimal digits.
  case sha256(String)
  /// Nothing. So it is in every presigned address.
  case unsigned
  /// The content comes in chunks, each of which is signed.
  case signedChunks
  /// The same, and what trails the chunks is signed too.
  case signedChunksAndTrailer
  /// The content comes in chunks, with fields behind them; nothing of that is signed.
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
