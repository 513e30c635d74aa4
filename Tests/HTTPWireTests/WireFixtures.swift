import FoundationEssentials
import Testing

/// The raw cases in `Fixtures/`: one JSON object a line, bytes in base64.
enum WireFixtures {
  static let requests: [RequestCase] = load("http-requests.jsonl")
  static let responses: [ResponseCase] = load("http-responses.jsonl")

  private static func load<Case: Decodable>(_ name: String) -> [Case] {
    let folder = #filePath.split(separator: "/").dropLast().joined(separator: "/")
    guard let data = FileManager.default.contents(atPath: "/\(folder)/Fixtures/\(name)") else {
      return []
    }
    return data.split(separator: UInt8(ascii: "\n")).compactMap { line in
      try? JSONDecoder().decode(Case.self, from: Data(line))
    }
  }
}

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
  /// Whether sending no response yet is correct too.
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

/// An upstream response and the expected outcome at the client.
struct ResponseCase: Decodable, Sendable, CustomTestStringConvertible {
  var id: String
  var note: String
  var method: String
  var bytes: Data
  /// `ok`, `error` or `either`.
  var expect: String
  var status: Int?
  var body: Data?
  /// Whether the server keeps the connection open after the bytes.
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
