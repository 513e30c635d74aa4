import CLinux
import Foundation
import Synchronization

/// A PostgreSQL server of its own in a temporary folder, which listens on a Unix socket alone. It ends with the
/// object, and with the process of the tests.
package final class PostgresServer: Sendable {
  package enum Problem: Error {
    /// With the end of its log.
    case notReady(String)
    case failed(String)
  }

  /// The programs of PostgreSQL: the newest of Debian's packages, or those that `Scripts/setup --tests` has
  /// unpacked; nil without.
  private static let programs: String? = {
    let build = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().appending(path: ".build/programs").path
    let packages = (try? FileManager.default.contentsOfDirectory(atPath: build)) ?? []
    let roots = [""] + packages.filter { $0.hasPrefix("postgresql-") }.map { "\(build)/\($0)" }
    for root in roots {
      let base = "\(root)/usr/lib/postgresql"
      let versions = (try? FileManager.default.contentsOfDirectory(atPath: base)) ?? []
      let newest = versions.compactMap { Int($0) }.sorted().last { version in
        FileManager.default.isExecutableFile(atPath: "\(base)/\(version)/bin/initdb")
      }
      if let newest { return "\(base)/\(newest)/bin" }
    }
    return nil
  }()

  package static let isInstalled = programs != nil
  package static let whyNot = "needs PostgreSQL's server: Scripts/setup --tests"

  private static let port = 5432

  private let folder: TestFolder
  private let options: [String]
  private let state = Mutex<(process: Process, lifeline: FileHandle)?>(nil)

  /// Starts a server.
  ///
  /// - Parameter options: such as `fsync=on`; by default it is off, since a server that is killed loses nothing.
  package init(options: [String] = []) async throws {
    folder = try TestFolder("postgres")
    self.options = ["fsync=off", "unix_socket_directories=\(folder.path)"] + options
    let path = folder.path
    try await onOwnThread {
      if let user = Self.user { try Self.run(["chown", user, path]) }
      try Self.run(Self.asUser(["cp", "-R", Self.template.get(), "\(path)/data"]))
    }
    try await start()
  }

  deinit { state.withLock { try? $0?.lifeline.close() } }

  /// The host, port and so on of a connection string. The role `postgres` needs no password.
  package var connection: String {
    "host=\(folder.path) port=\(Self.port) user=postgres dbname=postgres"
  }

  /// The path of its socket.
  package var socketPath: String { "\(folder.path)/.s.PGSQL.\(Self.port)" }

  package var log: String {
    (try? String(contentsOfFile: "\(folder.path)/log", encoding: .utf8)) ?? ""
  }

  /// The id of the server's first process.
  package var processID: Int32? {
    let lines = try? String(contentsOfFile: "\(folder.path)/data/postmaster.pid", encoding: .utf8)
    return lines?.split(separator: "\n").first.flatMap { Int32($0) }
  }

  /// Ends the server when its own input ends, and so with the process that started it. Not a shell's `wait`: it
  /// needs SIGCHLD, which threads of Dispatch block and pass on.
  private static let guardian = """
    import shutil, signal, subprocess, sys
    server = subprocess.Popen(sys.argv[2:], stdin=subprocess.DEVNULL)
    isKept = sys.stdin.buffer.read() == b"keep"
    server.send_signal(signal.SIGQUIT)
    server.send_signal(signal.SIGCONT)
    server.wait()
    if not isKept:
        shutil.rmtree(sys.argv[1], ignore_errors=True)
    """

  // MARK: Starting and stopping

  /// Starts the server on its folder, and waits until it is ready.
  package func start() async throws {
    guard let programs = Self.programs else { throw Problem.failed(Self.whyNot) }
    try Data().write(to: URL(filePath: "\(folder.path)/log"))
    let server =
      ["\(programs)/postgres", "-D", "\(folder.path)/data", "-p", "\(Self.port)"]
      + ["-c", "listen_addresses="] + options.flatMap { ["-c", $0] }
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = ["python3", "-c", Self.guardian, folder.path] + Self.asUser(server)
    // Not a `Pipe`: processes that others start at this moment would inherit its end, and keep it open.
    var ends: [Int32] = [0, 0]
    guard pipe2(&ends, O_CLOEXEC) == 0 else { throw Problem.failed("pipe2: \(errno)") }
    let input = FileHandle(fileDescriptor: ends[0], closeOnDealloc: true)
    let lifeline = FileHandle(fileDescriptor: ends[1], closeOnDealloc: true)
    process.standardInput = input
    let output = FileHandle(forWritingAtPath: "\(folder.path)/log")
    process.standardOutput = output
    process.standardError = output
    try await onOwnThread { try process.run() }
    state.withLock { $0 = (process, lifeline) }
    let isReady = await eventuallyHolds(within: .seconds(60)) { hasReported("ready") || !process.isRunning }
    guard isReady, process.isRunning else { throw Problem.notReady(String(log.suffix(2000))) }
  }

  /// Whether the server's own file has this status in its last line.
  private func hasReported(_ status: String) -> Bool {
    let text = try? String(contentsOfFile: "\(folder.path)/data/postmaster.pid", encoding: .utf8)
    return text?.split(separator: "\n").last?.hasPrefix(status) == true
  }

  /// Ends the server at once, without closing its sessions; it recovers when it is started again.
  package func stop() async throws {
    let running = state.withLock { state in
      defer { state = nil }
      return state
    }
    guard let running else { return }
    try await onOwnThread {
      try running.lifeline.write(contentsOf: Data("keep".utf8))
      try running.lifeline.close()
      running.process.waitUntilExit()
    }
  }

  /// Stops all processes of the server, or lets them go on (`SIGSTOP`, `SIGCONT`): a server that hangs.
  package func pause(_ isPaused: Bool) throws {
    guard let first = processID else { throw Problem.failed("the server does not run") }
    let processes = try FileManager.default.contentsOfDirectory(atPath: "/proc").compactMap {
      Int32($0)
    }
    let children = processes.filter { Self.parent(of: $0) == first }
    for process in [first] + children { kill(process, isPaused ? SIGSTOP : SIGCONT) }
  }

  private static func parent(of process: Int32) -> Int32? {
    guard let text = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8),
      let end = text.lastIndex(of: ")")
    else { return nil }
    let fields = text[text.index(after: end)...].split(separator: " ")
    return fields.count > 1 ? Int32(fields[1]) : nil
  }

  // MARK: Programs

  /// What `initdb` makes, once a run.
  private static let template: Result<String, any Error> = Result {
    guard let programs else { throw Problem.failed(whyNot) }
    let folder = try TestFolder.untilExit("postgres-template")
    if let user { try run(["chown", user, folder.path]) }
    let path = "\(folder.path)/data"
    try run(
      asUser([
        "\(programs)/initdb", "-D", path, "-U", "postgres", "-A", "trust", "-E", "UTF8",
        "--locale=C.UTF-8", "--no-sync", "--no-instructions",
      ]))
    return path
  }

  /// The user to run as: the server refuses root. Nil for the user of the tests.
  private static let user: String? = {
    guard getuid() == 0 else { return nil }
    return getpwnam("postgres") != nil ? "postgres" : "nobody"
  }()

  private static func asUser(_ command: [String]) -> [String] {
    guard let user, let entry = getpwnam(user) else { return command }
    let ids = ["--reuid=\(entry.pointee.pw_uid)", "--regid=\(entry.pointee.pw_gid)"]
    return ["setpriv"] + ids + ["--clear-groups", "--"] + command
  }

  private static func run(_ command: [String]) throws {
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
      throw Problem.failed("\(command): \(String(decoding: data, as: UTF8.self))")
    }
  }
}
