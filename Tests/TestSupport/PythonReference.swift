import Foundation
package import LosslessJSON

/// The GraphQL reference implementation (graphql-core), run as a Python program over a batch of requests: one
/// JSON text per line in and out.
package struct PythonReference {
  package enum Problem: Error, CustomStringConvertible {
    case noInterpreter([String])
    case failed(Int32, String)
    case answers(Int, of: Int)

    package var description: String {
      switch self {
      case .noInterpreter(let tried):
        "No Python with graphql-core 3.2.8 found (tried \(tried.joined(separator: ", "))). "
          + "Scripts/test installs it into .build/venv; or name one in LARDER_TEST_PYTHON."
      case .failed(let status, let output): "The reference ended with \(status): \(output)"
      case .answers(let count, let asked): "The reference gave \(count) of \(asked) answers."
      }
    }
  }

  private let python: String
  private let script: String

  /// - Parameter script: the program's path.
  package init(script: String) throws {
    var candidates: [String] = []
    if let named = ProcessInfo.processInfo.environment["LARDER_TEST_PYTHON"] {
      candidates = [named]
    } else {
      candidates = [Self.packageRoot.appending(path: ".build/venv/bin/python").path, "python3"]
    }
    let check = "import graphql; assert graphql.version_info[:2] == (3, 2)"
    guard let python = candidates.first(where: { Self.succeeds($0, ["-c", check]) }) else {
      throw Problem.noInterpreter(candidates)
    }
    self.python = python
    self.script = script
  }

  /// The response to each request, in order.
  package func answers(to requests: [JSONValue]) throws -> [JSONValue] {
    let folder = FileManager.default.temporaryDirectory.appending(
      path: "graphql-reference-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let input = folder.appending(path: "requests.jsonl")
    let output = folder.appending(path: "answers.jsonl")
    let errors = folder.appending(path: "errors.txt")
    let text = requests.map(\.text).joined(separator: "\n") + "\n"
    try Data(text.utf8).write(to: input)
    for file in [output, errors] { try Data().write(to: file) }

    let process = Self.process(python, [script])
    process.standardInput = try FileHandle(forReadingFrom: input)
    process.standardOutput = try FileHandle(forWritingTo: output)
    process.standardError = try FileHandle(forWritingTo: errors)
    try process.run()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else {
      let said = try String(decoding: Data(contentsOf: errors), as: UTF8.self)
      throw Problem.failed(process.terminationStatus, said)
    }
    let lines = try Data(contentsOf: output).split(separator: UInt8(ascii: "\n"))
    guard lines.count == requests.count else {
      throw Problem.answers(lines.count, of: requests.count)
    }
    return try lines.map { try JSONValue(parsing: Array($0)) }
  }

  private static func succeeds(_ python: String, _ arguments: [String]) -> Bool {
    let process = process(python, arguments)
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    guard (try? process.run()) != nil else { return false }
    process.waitUntilExit()
    return process.terminationStatus == 0
  }

  /// Started through `env`, which looks a bare name up in the path.
  private static func process(_ python: String, _ arguments: [String]) -> Process {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = [python] + arguments
    return process
  }

  private static let packageRoot = URL(filePath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
}
