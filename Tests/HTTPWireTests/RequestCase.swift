import FoundationEssentials
import Testing

/// A request stream, and what a correct server makes of it.
struct RequestCase: Decodable, Sendable, CustomTestStringConvertible {
  var id: String
  var note: String
  var bytes: Data
  /// `ok`, `reject` or `either`.
  var expect: String
  /// The hardened choice where the RFC leaves one.
  var prefer: String?
  /// Final responses, exactly.
  var n: Int?
  /// Final responses, at most.
  var max: Int?
  /// Whether the connection ends.
  var close: Bool?
  /// Whether giving no answer yet is right as well.
  var wait: Bool?
  /// Statuses that must not come: a code, or a class such as `2xx`.
  var forbid: [String]?
  /// Statuses that a refusal should have.
  var status: [Int]?
  var sequences: [[String]]?

  enum CodingKeys: String, CodingKey {
    case id, note, expect, prefer, n, max, close, wait, forbid, status
    case bytes = "bytes_base64"
    case sequences = "seq_any"
  }

  var testDescription: String { "\(id): \(note)" }
}
