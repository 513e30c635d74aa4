import FoundationEssentials

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
