import CLinux
import Foundation

/// A server's process, which ends with the process of the tests, however that ends.
package final class GuardedProcess: Sendable {
  package struct Failure: Error, CustomStringConvertible {
    package let description: String
  }

  /// Ends the server when its own input ends, and so with the process that started it.
  private static let guardian = """
    import shutil, signal, subprocess, sys
    # Threads of Dispatch block most signals, and processes inherit that.
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    server = subprocess.Popen(sys.argv[2:], stdin=subprocess.DEVNULL)
    isKept = sys.stdin.buffer.read() == b"keep"
    server.send_signal(signal.SIGQUIT)
    server.send_signal(signal.SIGCONT)
    try:
        server.wait(10)
    except subprocess.TimeoutExpired:
        server.kill()
        server.wait()
    if not isKept:
        shutil.rmtree(sys.argv[1], ignore_errors=True)
    """

  private let process: Process
  private let lifeline: FileHandle

  /// Starts a program.
  ///
  /// - Parameters:
  ///   - command: a program, searched for in `PATH`, and its arguments.
  ///   - folder: the server's own, which is removed after its end.
  ///   - log: the path of a file for its output.
  package init(_ command: [String], in folder: String, log: String) async throws {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = ["python3", "-c", Self.guardian, folder] + command
    process.currentDirectoryURL = URL(filePath: "/")
    // Not a `Pipe`: processes that others start at this moment would inherit its end, and keep it open.
    var ends: [Int32] = [0, 0]
    guard pipe2(&ends, O_CLOEXEC) == 0 else { throw Failure(description: "pipe2: \(errno)") }
    process.standardInput = FileHandle(fileDescriptor: ends[0], closeOnDealloc: true)
    lifeline = FileHandle(fileDescriptor: ends[1], closeOnDealloc: true)
    try Data().write(to: URL(filePath: log))
    let output = FileHandle(forWritingAtPath: log)
    process.standardOutput = output
    process.standardError = output
    self.process = process
    try await onOwnThread { try process.run() }
  }

  /// Ends the server soon, and removes its folder.
  deinit { try? lifeline.close() }

  package var isRunning: Bool { process.isRunning }

  /// Ends the server at once, and keeps its folder.
  package func stop() async throws {
    try await onOwnThread { [lifeline, process] in
      try lifeline.write(contentsOf: Data("keep".utf8))
      try lifeline.close()
      process.waitUntilExit()
    }
  }

  // MARK: Users

  /// The user for servers that refuse root; nil for the user of the tests.
  package static let serverUser: String? = {
    guard getuid() == 0 else { return nil }
    return getpwnam("postgres") != nil ? "postgres" : "nobody"
  }()

  /// A command as that user runs it.
  package static func asServerUser(_ command: [String]) -> [String] {
    guard let serverUser, let entry = getpwnam(serverUser) else { return command }
    let ids = ["--reuid=\(entry.pointee.pw_uid)", "--regid=\(entry.pointee.pw_gid)"]
    return ["setpriv"] + ids + ["--clear-groups", "--"] + command
  }

  /// Gives a folder to that user.
  package static func giveToServerUser(_ folder: String) throws {
    if let serverUser { try run(["chown", serverUser, folder]) }
  }

  /// Runs a command to its end. Blocks.
  package static func run(_ command: [String]) throws {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = command
    process.currentDirectoryURL = URL(filePath: "/")
    let output = Pipe()
    process.standardOutput = output
    process.standardError = output
    try process.run()
    let data = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else {
      throw Failure(description: "\(command): \(String(decoding: data, as: UTF8.self))")
    }
  }
}
