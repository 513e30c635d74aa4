import Foundation
import Synchronization

/// A PostgreSQL server of its own in a temporary folder, which listens on a Unix socket alone. It ends with the
/// object, and with the process of the tests.
package final class PostgresServer: Sendable {
  package enum Problem: Error {
    case notInstalled(String)
    /// With the end of its log.
    case notReady(String)
    case notRunning
  }

  /// The programs of PostgreSQL: the newest of Debian's packages, or those that `Scripts/setup --tests` has
  /// unpacked; nil without.
  private static let programs: String? = {
    for root in [""] + UnpackedPrograms.folders(named: "postgresql") {
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
  private let process = Mutex<GuardedProcess?>(nil)

  /// Starts a server.
  ///
  /// - Parameter options: such as `fsync=on`; by default it is off, since a server that is killed loses nothing.
  package init(options: [String] = []) async throws {
    folder = try TestFolder("postgres")
    self.options = ["fsync=off", "unix_socket_directories=\(folder.path)"] + options
    let path = folder.path
    try await onOwnThread {
      try GuardedProcess.giveToServerUser(path)
      try GuardedProcess.run(
        GuardedProcess.asServerUser(["cp", "-R", Self.template.get(), "\(path)/data"]))
    }
    try await start()
  }

  /// The folder of its socket.
  package var socketFolder: String { folder.path }

  /// The path of its socket.
  package var socketPath: String { "\(folder.path)/.s.PGSQL.\(Self.port)" }

  /// The host, port and so on of a connection string. The role `postgres` needs no password.
  package var connection: String {
    "host=\(folder.path) port=\(Self.port) user=postgres dbname=postgres"
  }

  package var log: String {
    (try? String(contentsOfFile: "\(folder.path)/log", encoding: .utf8)) ?? ""
  }

  /// Starts the server on its folder, and waits until it is ready.
  package func start() async throws {
    guard let programs = Self.programs else { throw Problem.notInstalled(Self.whyNot) }
    let command =
      ["\(programs)/postgres", "-D", "\(folder.path)/data", "-p", "\(Self.port)"]
      + ["-c", "listen_addresses="] + options.flatMap { ["-c", $0] }
    let started = try await GuardedProcess(
      GuardedProcess.asServerUser(command), in: folder.path, log: "\(folder.path)/log")
    process.withLock { $0 = started }
    let isReady = await eventuallyHolds(within: .seconds(60)) {
      status?.hasPrefix("ready") == true || !started.isRunning
    }
    guard isReady, started.isRunning else { throw Problem.notReady(String(log.suffix(2000))) }
  }

  /// Ends the server at once, without closing its sessions; it recovers when it is started again.
  package func stop() async throws {
    try await process.withLock { $0.take() }?.stop()
  }

  /// Stops all processes of the server, or lets them go on (`SIGSTOP`, `SIGCONT`): a server that hangs.
  package func pause(_ isPaused: Bool) throws {
    guard let first = ownFile?.first.flatMap({ Int32($0) }) else { throw Problem.notRunning }
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

  /// What the server writes of itself: first its process's id, last its status.
  private var ownFile: [Substring]? {
    let text = try? String(contentsOfFile: "\(folder.path)/data/postmaster.pid", encoding: .utf8)
    return text?.split(separator: "\n")
  }

  private var status: Substring? { ownFile?.last }

  /// What `initdb` makes, once a run.
  private static let template: Result<String, any Error> = Result {
    guard let programs else { throw Problem.notInstalled(whyNot) }
    let folder = try TestFolder.untilExit("postgres-template")
    try GuardedProcess.giveToServerUser(folder.path)
    let path = "\(folder.path)/data"
    try GuardedProcess.run(
      GuardedProcess.asServerUser([
        "\(programs)/initdb", "-D", path, "-U", "postgres", "-A", "trust", "-E", "UTF8",
        "--locale=C.UTF-8", "--no-sync", "--no-instructions",
      ]))
    return path
  }
}

/// What `Scripts/setup --tests` has unpacked from Debian's packages.
package enum UnpackedPrograms {
  private static let folder = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent().appending(path: ".build/programs").path

  /// The folders of packages whose names begin so.
  package static func folders(named prefix: String) -> [String] {
    let packages = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    return packages.filter { $0.hasPrefix(prefix) }.map { "\(folder)/\($0)" }
  }

  /// A program of a package, installed or unpacked; nil without.
  package static func program(_ path: String, of package: String) -> String? {
    ([""] + folders(named: package)).map { $0 + path }.first {
      FileManager.default.isExecutableFile(atPath: $0)
    }
  }
}
