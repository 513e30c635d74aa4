import Foundation

/// A program of other make in the Python environment of `Tests/requirements.txt`.
package final class PythonPeer: Sendable {
  package enum Problem: Error {
    /// With its output.
    case notListening(String)
    case failed(Int32, String)
  }

  /// The Python packages of `Scripts/test`; nil if the tests run without it.
  package static let environment = ProcessInfo.processInfo.environment["LARDER_TEST_VENV"]
  package static let whyNot =
    "needs LARDER_TEST_VENV, a Python environment of Tests/requirements.txt"

  /// Ends the program when its input ends, and so with the process that started it.
  private static let guardian = """
    import subprocess, sys
    peer = subprocess.Popen([sys.executable, *sys.argv[1:]], stdin=subprocess.DEVNULL)
    try:
        sys.stdin.buffer.read()
    finally:
        peer.kill()
    """

  /// The port that the program has announced.
  package let port: Int
  private let process: Process
  private let lifeline: Pipe

  /// Starts a server that prints `listening on PORT` as its first line.
  ///
  /// - Parameter script: below `Tests/Peers`.
  package init(serving script: String) throws {
    process = Self.process(["-c", Self.guardian, Self.path(script)])
    lifeline = Pipe()
    process.standardInput = lifeline
    let output = Pipe()
    process.standardOutput = output
    process.standardError = output
    try process.run()
    var text = ""
    while !text.contains("\n") {
      let data = output.fileHandleForReading.availableData
      if data.isEmpty { throw Problem.notListening(text) }
      text += String(decoding: data, as: UTF8.self)
    }
    // What it says later has to go somewhere.
    output.fileHandleForReading.readabilityHandler = { _ = $0.availableData }
    let words = text.prefix { $0 != "\n" }.split(separator: " ")
    guard words.count == 3, let number = Int(words[2]) else { throw Problem.notListening(text) }
    port = number
  }

  /// Runs a program to its end and returns its output.
  package static func run(_ script: String, _ arguments: [String]) async throws -> String {
    try await onOwnThread {
      let process = process([path(script)] + arguments)
      let output = Pipe()
      process.standardOutput = output
      process.standardError = output
      try process.run()
      let text = String(
        decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
      process.waitUntilExit()
      guard process.terminationStatus == 0 else {
        throw Problem.failed(process.terminationStatus, text)
      }
      return text
    }
  }

  private static func process(_ arguments: [String]) -> Process {
    let process = Process()
    process.executableURL = URL(filePath: "\(environment ?? "")/bin/python")
    process.arguments = arguments
    return process
  }

  private static func path(_ script: String) -> String {
    let tests = #filePath.split(separator: "/").dropLast(2).joined(separator: "/")
    return "/\(tests)/Peers/\(script)"
  }
}
