import FoundationEssentials
import Testing

/// An upstream's answer, and what a correct client makes of it.
struct ResponseCase: Decodable, Sendable, CustomTestStringConvertible {
  var id: String
  var note: String
  var method: String
  var bytes: Data
  /// `ok`, `error` or `either`.
  var expect: String
  var status: Int?
  var body: Data?
  /// Whether the server keeps the connection open behind the bytes.
  var hold: Bool?
  /// `false` where the connection must not be used again.
  var reuse: Bool?

  enum CodingKeys: String, CodingKey {
    case id, note, method, expect, status, hold, reuse
    case bytes = "bytes_base64"
    case body = "body_base64"
  }

  var testDescription: String { "\(id): \(note)" }
}
