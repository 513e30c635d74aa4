import Cluster
import ClusterDouble
import Logging
import Synchronization
import TestSupport
import Testing

/// The kinds of ``ClusterBackend`` that the contract suite runs with.
enum BackendKind: String, CaseIterable, Sendable, CustomTestStringConvertible {
  case memory, postgres

  var testDescription: String { rawValue }

  /// Those that this machine can run.
  static var available: [BackendKind] {
    PostgresServer.isInstalled ? allCases : [.memory]
  }
}

/// A new cluster, of which each node gets a backend.
struct SharedCluster: Sendable {
  let kind: BackendKind
  private let memory = MemoryCluster()
  private let name: String
  private let server: PostgresServer?

  private static let count = Atomic(0)

  init(_ kind: BackendKind) async throws {
    self.kind = kind
    name = "test_\(Self.count.add(1, ordering: .relaxed).newValue)"
    server = kind == .postgres ? try await CommonServer.shared.server() : nil
  }

  /// A node's backend. The tables are there already, except for the first one.
  func node(rowsPerPartition: Int64 = 8) async throws -> any ClusterBackend {
    let backend = try unprepared(rowsPerPartition: rowsPerPartition)
    try await backend.prepare()
    return backend
  }

  func unprepared(rowsPerPartition: Int64 = 8) throws -> any ClusterBackend {
    guard let server else { return MemoryBackend(memory, nodeLiveFor: .milliseconds(200)) }
    return try PostgresBackend.test(
      server.connection, cluster: name, rowsPerPartition: rowsPerPartition,
      nodeLiveFor: .milliseconds(200))
  }
}

extension PostgresBackend {
  static func test(
    _ connection: String, cluster: String = "larder", deadline: Duration = .seconds(20),
    rowsPerPartition: Int64 = 8, nodeLiveFor: Duration = .seconds(10)
  ) throws -> PostgresBackend {
    var settings = Settings()
    settings.cluster = cluster
    settings.deadline = deadline
    settings.rowsPerPartition = rowsPerPartition
    settings.nodeLiveFor = nodeLiveFor
    return try PostgresBackend(
      connection, settings: settings,
      logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
  }
}

/// One server for all tests that neither stop nor restart it: each has a schema of its own.
actor CommonServer {
  static let shared = CommonServer()

  private var starting: Task<PostgresServer, any Error>?

  func server() async throws -> PostgresServer {
    if let starting { return try await starting.value }
    let task = Task { try await PostgresServer() }
    starting = task
    return try await task.value
  }
}

extension NodeRecord {
  static func test(
    _ id: String, position: Int64 = 0, version: String = "1.0", digest: String = "d",
    place: String = ""
  ) -> NodeRecord {
    NodeRecord(
      id: NodeID(id), url: "http://\(id).example:8080", position: position, version: version,
      digest: digest, place: place)
  }
}

extension LogAppender {
  /// The error of an append; nil if it succeeds.
  func failure(_ payload: [UInt8], at position: Int64) -> ClusterError? {
    do throws(ClusterError) {
      try append(payload, at: position)
      return nil
    } catch { return error }
  }
}

/// The error of a call; nil if it succeeds.
func failure<Value>(_ body: () async throws(ClusterError) -> Value) async -> ClusterError? {
  do throws(ClusterError) {
    _ = try await body()
    return nil
  } catch { return error }
}

extension ClusterError {
  var isUnavailable: Bool { if case .unavailable = self { true } else { false } }
  var isInDoubt: Bool { if case .inDoubt = self { true } else { false } }
  var faultText: String? { if case .faulty(let text) = self { text } else { nil } }
}
