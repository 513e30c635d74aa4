import FoundationEssentials
import Testing

/// A raw upstream response and the expected outcome at the client.
struct ResponseCase: Decodable, Sendable, CustomTestStringConvertible {
  let id: String
  let note: String
  let method: String
  let bytes: Data
  /// `ok`, `error` or `either`.
  let expect: String
  let status: Int?
  let body: Data?
  /// Whether the server keeps the connection open after the bytes.
  let hold: Bool?
  /// False where the connection must not be used again.
  let reuse: Bool?

  enum CodingKeys: String, CodingKey {
    case id, note, method, expect, status, hold, reuse
    case bytes = "bytes_base64"
    case body = "body_base64"
  }

  var testDescription: String { "\(id): \(note)" }

  /// The cases of HTTPWire's own tests, from their folder.
  static let all: [ResponseCase] = {
    guard let lines = try? Fixture.bytes("../../HTTPWireTests/Fixtures/http-responses.jsonl") else {
      return []
    }
    return lines.split(separator: UInt8(ascii: "\n")).compactMap { line in
      try? JSONDecoder().decode(ResponseCase.self, from: Data(line))
    }
  }()
}
