import Dispatch
import Foundation
import Glibc
import TestSupport

/// `larder` as a process of its own, with nothing of this process's environment except sanitizer options.
final class LarderProcess {
  enum Problem: Error {
    /// It ended, or did not get ready in time, with this on its standard error.
    case notReady(String)
    case notEnded
  }

  /// Enough for a debug build on a busy machine; usually a fraction of it suffices.
  private static let readySecondsMax = 20
  static let endSecondsMax = 20

  /// 0 until it has printed its address.
  private(set) var port = 0
  private let process = Process()
  private let output = Pipe()
  /// Its standard error if nothing reads it, full from the beginning.
  private let unread: Pipe?
  private let errorFile: String
  private let ended = DispatchSemaphore(value: 0)

  /// The variables that a sanitizer's build needs, and nothing else of this process.
  private static let environment = ProcessInfo.processInfo.environment
    .filter { ["LD_PRELOAD", "TSAN_OPTIONS", "ASAN_OPTIONS"].contains($0.key) }
    .merging(["PATH": "/usr/bin:/bin"]) { $1 }

  /// - Parameters:
  ///   - tracer: a program, with its arguments, that becomes this one; empty for none.
  ///   - folder: where its standard error goes, to a file of its own.
  private init(
    _ arguments: [String], under tracer: [String] = [], in folder: ServiceFolder,
    readsErrors: Bool = true
  ) throws {
    unread = readsErrors ? nil : Self.fullPipe()
    errorFile = "\(folder.path)/stderr-\(UUID().uuidString).txt"
    _ = FileManager.default.createFile(atPath: errorFile, contents: nil)
    process.executableURL = URL(filePath: tracer.isEmpty ? LarderProgram.path : "/usr/bin/env")
    process.arguments = tracer.isEmpty ? arguments : tracer + [LarderProgram.path] + arguments
    process.environment = Self.environment
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = output
    if let unread {
      process.standardError = unread
    } else {
      process.standardError = FileHandle(forWritingAtPath: errorFile)
    }
    process.terminationHandler = { [ended] _ in ended.signal() }
    try process.run()
  }

  deinit { if process.isRunning { Glibc.kill(process.processIdentifier, SIGKILL) } }

  /// Starts the service and waits until it responds.
  ///
  /// - Parameter arguments: further ones of `serve`.
  static func serve(
    _ folder: ServiceFolder, _ arguments: String...
  ) async throws -> LarderProcess {
    let larder = try spawnService(folder, arguments)
    try await larder.becomeReady()
    let port = larder.port
    _ = try await onOwnThread { try RawClient(port: port).request("GET", "/healthz") }
    return larder
  }

  /// Starts the service and waits only for the line that says that it listens.
  static func serveUnasked(_ folder: ServiceFolder) async throws -> LarderProcess {
    let larder = try spawnService(folder)
    try await larder.becomeReady()
    return larder
  }

  /// Waits for the line that says that it listens, and takes the port from it.
  func becomeReady() async throws {
    let descriptor = output.fileHandleForReading.fileDescriptor
    let line = try await onOwnThread {
      LineReader(descriptor: descriptor).firstLine(withinSeconds: Self.readySecondsMax)
    }
    let prefix = "larder listening on http://127.0.0.1:"
    guard let line, line.hasPrefix(prefix), let port = Int(line.dropFirst(prefix.count)) else {
      await kill()
      throw Problem.notReady(errors)
    }
    self.port = port
  }

  /// Starts the service without waiting.
  static func spawnService(
    _ folder: ServiceFolder, _ arguments: [String] = [], under tracer: [String] = [],
    readsErrors: Bool = true
  ) throws -> LarderProcess {
    try LarderProcess(
      ["serve", "--config", folder.settingsPath] + arguments, under: tracer, in: folder,
      readsErrors: readsErrors)
  }

  /// A pipe that takes no more bytes.
  private static func fullPipe() -> Pipe {
    let pipe = Pipe()
    let descriptor = pipe.fileHandleForWriting.fileDescriptor
    let flags = fcntl(descriptor, F_GETFL)
    _ = fcntl(descriptor, F_SETFL, flags | O_NONBLOCK)
    let page = [UInt8](repeating: UInt8(ascii: "x"), count: 4_096)
    while write(descriptor, page, page.count) > 0 {}
    while write(descriptor, page, 1) > 0 {}
    _ = fcntl(descriptor, F_SETFL, flags)
    return pipe
  }

  /// Reads to its end the output that ``spawnService(_:under:readsErrors:)`` held back.
  func readErrors() async throws -> String {
    guard let unread else { return errors }
    try? unread.fileHandleForWriting.close()
    return try await onOwnThread {
      String(decoding: try unread.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
    }
  }

  /// Runs a command that ends by itself.
  static func run(
    _ arguments: String..., under tracer: [String] = [], in folder: ServiceFolder
  ) async throws -> (status: Int32, errors: String, output: String) {
    let larder = try LarderProcess(
      arguments + ["--config", folder.settingsPath], under: tracer, in: folder)
    let status = try await larder.status()
    // What it printed fits the pipe.
    let printed = try larder.output.fileHandleForReading.readToEnd() ?? Data()
    return (status, larder.errors, String(decoding: printed, as: UTF8.self))
  }

  /// Its standard error so far.
  var errors: String {
    String(decoding: FileManager.default.contents(atPath: errorFile) ?? Data(), as: UTF8.self)
  }

  var isRunning: Bool { process.isRunning }
  var processID: Int32 { process.processIdentifier }

  /// The number of times that its threads have given up the processor voluntarily, and so the number of
  /// wake-ups.
  func wakeUps() throws -> Int {
    let tasks = "/proc/\(process.processIdentifier)/task"
    return try FileManager.default.contentsOfDirectory(atPath: tasks).reduce(0) { sum, thread in
      // A thread can end between the two calls.
      let status = (try? String(contentsOfFile: "\(tasks)/\(thread)/status", encoding: .utf8)) ?? ""
      let line = status.split(separator: "\n").first { $0.hasPrefix("voluntary_ctxt_switches:") }
      return sum + (line.flatMap { Int($0.split(separator: "\t").last ?? "") } ?? 0)
    }
  }

  /// Kills it, as a crash or the kernel would: none of its own code runs any more.
  func kill() async {
    signal(SIGKILL)
    _ = try? await status()
  }

  /// Ends it with SIGTERM.
  ///
  /// - Returns: its exit status.
  func terminate() async throws -> Int32 {
    signal(SIGTERM)
    return try await status()
  }

  func signal(_ number: Int32) {
    if process.isRunning { Glibc.kill(process.processIdentifier, number) }
  }

  /// Waits for the end. A process that does not end in time is killed, which is an error.
  func status() async throws -> Int32 {
    let ended = ended
    let isInTime = try await onOwnThread {
      ended.wait(timeout: .now() + .seconds(Self.endSecondsMax)) == .success
    }
    // For the next call.
    ended.signal()
    guard isInTime else {
      signal(SIGKILL)
      throw Problem.notEnded
    }
    return process.terminationStatus
  }
}

/// The program under test and the example it serves.
enum LarderProgram {
  /// The path of the program, which the build puts beside the bundle that runs the tests.
  static let path: String = {
    let tests =
      (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe"))
      ?? CommandLine.arguments[0]
    return URL(filePath: tests).deletingLastPathComponent().appending(path: "larder").path
  }()

  static let films: String =
    URL(filePath: #filePath).deletingLastPathComponent()
    .appending(path: "../../Examples/films").standardized.path
}

/// Reads a pipe line by line, with a deadline.
struct LineReader {
  let descriptor: Int32

  /// - Returns: the first line without its end; nil if the pipe ends or the time is over before.
  func firstLine(withinSeconds seconds: Int) -> String? {
    let deadline = ContinuousClock.now + .seconds(seconds)
    var line: [UInt8] = []
    while true {
      let left = deadline - ContinuousClock.now
      var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      guard left > .zero, poll(&waiting, 1, Int32(left / .milliseconds(1))) > 0 else { return nil }
      var byte: UInt8 = 0
      guard read(descriptor, &byte, 1) == 1 else { return nil }
      if byte == UInt8(ascii: "\n") { return String(decoding: line, as: UTF8.self) }
      line.append(byte)
    }
  }
}

/// Ports for services that must restart at the same address.
enum FreePort {
  struct NoneLeft: Error {}

  /// A port that is free now, below those that the kernel assigns.
  static func find() throws -> Int {
    for _ in 0..<100 {
      let port = Int.random(in: 20_000..<30_000)
      if isFree(port) { return port }
    }
    throw NoneLeft()
  }

  private static func isFree(_ port: Int) -> Bool {
    let probe = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(probe) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = in_port_t(UInt16(port).bigEndian)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    return withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(probe, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
      }
    }
  }
}
