import Foundation
import Synchronization
import Transport

/// An independent server, run for the lifetime of this process.
final class PeerServer: Sendable {
  enum Problem: Error {
    /// With its output.
    case notListening(String)
  }

  /// The Python packages of `Scripts/test`; nil if the tests run without it.
  static let environment = ProcessInfo.processInfo.environment["LARDER_TEST_VENV"]
  static let whyNot = "needs LARDER_TEST_VENV, a Python environment of Tests/requirements.txt"

  /// How long a server can take to listen.
  private static let startTime = Duration.seconds(90)

  /// Ends the server when its input ends, and so with the process that started it.
  private static let guardian = """
    import subprocess, sys
    server = subprocess.Popen(sys.argv[1:], stdin=subprocess.DEVNULL)
    try:
        sys.stdin.buffer.read()
    finally:
        server.kill()
    """

  let port: UInt16
  private let process: Process
  private let lifeline: Pipe

  /// - Parameters:
  ///   - program: in the environment's `bin`.
  ///   - marker: the text before the address in its output.
  init(_ program: String, _ arguments: [String], marker: String) throws {
    let folder = "\(Self.environment ?? "")/bin"
    process = Process()
    process.executableURL = URL(filePath: "\(folder)/python")
    process.arguments = ["-c", Self.guardian, "\(folder)/\(program)"] + arguments
    lifeline = Pipe()
    process.standardInput = lifeline
    let said = Pipe()
    process.standardOutput = said
    process.standardError = said
    try process.run()
    port = try Self.port(in: said.fileHandleForReading, behind: marker)
  }

  private static func port(in output: FileHandle, behind marker: String) throws -> UInt16 {
    let deadline = LoopClock.now() + startTime
    var text = ""
    while LoopClock.now() < deadline {
      let data = output.availableData
      if data.isEmpty { break }
      text += String(decoding: data, as: UTF8.self)
      guard let place = text.range(of: marker) else { continue }
      let digits = text[place.upperBound...].prefix { $0.isNumber }
      // The number may not be all there yet.
      guard place.upperBound < text.endIndex, digits.endIndex < text.endIndex else { continue }
      // What it says later has to go somewhere.
      output.readabilityHandler = { _ = $0.availableData }
      if let port = UInt16(digits) { return port }
    }
    throw Problem.notListening(text)
  }
}
