import FoundationEssentials
import Testing

/// Files of `Fixtures/`: a JSON list plain and in each coding, and a small bomb.
enum Fixture {
  static func bytes(_ name: String) throws -> [UInt8] {
    let folder = #filePath.split(separator: "/").dropLast().joined(separator: "/")
    let path = "/\(folder)/Fixtures/\(name)"
    return [UInt8](try #require(FileManager.default.contents(atPath: path), "\(path)"))
  }
}
