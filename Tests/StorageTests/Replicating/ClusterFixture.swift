import Foundation
import GRDB
import Model
import Synchronization

@testable import Storage

/// A log in memory that can fail.
final class LogDouble: CommitLog {
  struct State {
    var rows: [[UInt8]] = []
    /// The error of the next append.
    var fault: CommitLogError?
    /// Whether the next append that fails is written nevertheless.
    var writesDespiteFault = false
  }

  /// Of all its rows.
  static let epoch: Int64 = 7

  private let state = Mutex(State())

  var rows: [[UInt8]] { state.withLock { $0.rows } }

  func failNext(_ fault: CommitLogError, butWrite writes: Bool = false) {
    state.withLock {
      $0.fault = fault
      $0.writesDespiteFault = writes
    }
  }

  func append(_ payload: [UInt8], at position: Int64) throws(CommitLogError) {
    let fault = state.withLock { state -> CommitLogError? in
      defer { state.fault = nil }
      if state.fault != nil, !state.writesDespiteFault { return state.fault }
      guard Int64(state.rows.count) == position - 1 else { return .notLeader }
      state.rows.append(payload)
      return state.fault
    }
    if let fault { throw fault }
  }

  /// The rows after a position, for ``Store/apply(_:)``.
  func rows(after position: Int64) -> [ReplicatedRow] {
    zip(Int64(1)..., rows).filter { $0.0 > position }.map {
      ReplicatedRow(position: $0, epoch: Self.epoch, payload: $1)
    }
  }
}

/// A leader's store, its log, and replicas made of a copy of its database.
final class ClusterFixture {
  static let types = [
    EntityType(
      name: "Film", keyFields: ["id"],
      columns: [
        .init(name: "id", kind: .text), .init(name: "title", kind: .text),
        .init(name: "year", kind: .integer), .init(name: "rating", kind: .real),
        .init(name: "director", kind: .reference),
      ], indexes: ["year"], search: ["title", "plot"]),
    EntityType(
      name: "Person", keyFields: ["id"],
      columns: [.init(name: "id", kind: .text), .init(name: "name", kind: .text)],
      search: ["title"]),
  ]

  let log = LogDouble()
  let folder = TemporaryFolder()
  private(set) var leader: Store

  init(types: [EntityType] = ClusterFixture.types) throws {
    leader = try Self.open(
      folder, .leader(cluster: "c", epoch: LogDouble.epoch, log: log), types: types)
  }

  static func open(
    _ folder: TemporaryFolder, _ role: StoreRole, types: [EntityType] = ClusterFixture.types,
    segment: UInt64 = .random(in: 1...UInt64.max)
  ) throws -> Store {
    var configuration = StoreConfiguration(
      folder: folder.path, segment: segment, opened: Timestamp(milliseconds: 0))
    configuration.role = role
    return try Store.open(configuration, types: types)
  }

  func reopenLeader(types: [EntityType] = ClusterFixture.types) throws {
    leader.close()
    leader = try Self.open(
      folder, .leader(cluster: "c", epoch: LogDouble.epoch, log: log), types: types)
  }

  /// Makes a replica of the leader's database as it is now.
  func replica(types: [EntityType] = ClusterFixture.types) throws -> (TemporaryFolder, Store) {
    let copy = TemporaryFolder()
    try FileManager.default.createDirectory(
      atPath: copy.path, withIntermediateDirectories: true)
    try DatabaseQueue(path: folder.databasePath).backup(to: DatabaseQueue(path: copy.databasePath))
    return (copy, try Self.open(copy, .replica, types: types))
  }

  /// Applies what is missing.
  @discardableResult
  func catchUp(_ replica: Store) async throws -> AppliedRows? {
    let rows = log.rows(after: replica.position)
    return rows.isEmpty ? nil : try await replica.apply(rows)
  }

  /// Everything in a database, by table: its definition, and its rows with their numbers, sorted.
  static func contents(_ folder: TemporaryFolder) throws -> [String: [String]] {
    var settings = Configuration()
    settings.readonly = true
    settings.prepareDatabase { db in
      TextFunctions.install(on: db.sqliteConnection!, WatchSlot())
    }
    return try DatabaseQueue(path: folder.databasePath, configuration: settings).read { db in
      var contents: [String: [String]] = [:]
      contents["schema"] = try String.fetchAll(
        db, sql: "SELECT type || name || tbl_name || coalesce(sql, '') FROM sqlite_master"
      ).sorted()
      for shape in try TransactionRecorder.shapes(db).values {
        contents[shape.name] = try Row.fetchAll(db, sql: shape.selectAll)
          .map { $0.description }.sorted()
      }
      contents["sequences"] = try Row.fetchAll(db, sql: "SELECT name, seq FROM sqlite_sequence")
        .map(\.description).sorted()
      contents["problems"] = try String.fetchAll(db, sql: "PRAGMA integrity_check")
      return contents
    }
  }
}
