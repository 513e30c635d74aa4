import Foundation
import GRDB
import Logging
import Model
import Standby
import Storage
import TestSupport
import Transport

@testable import Composition

/// Machines that share a folder, each with a data folder of its own.
final class StandbyFixture: Sendable {
  static let types = [
    EntityType(
      name: "Film", keyFields: ["id"],
      columns: [.init(name: "id", kind: .text), .init(name: "title", kind: .text)])
  ]

  let folder: TestFolder
  private var shared: String { "\(folder.path)/shared" }

  init() throws {
    folder = try TestFolder("standby")
    try FileManager.default.createDirectory(
      atPath: "\(folder.path)/shared", withIntermediateDirectories: true)
  }

  func settings(_ machine: String) throws -> Settings {
    var settings = Settings(folder: "\(folder.path)/\(machine)")
    settings.standby.folder = shared
    settings.standby.secret = Secret("0123456789abcdef0123456789abcdef")
    settings.standby.lease = .seconds(6)
    settings.standby.segmentInterval = .milliseconds(5)
    try FileManager.default.createDirectory(
      atPath: settings.dataFolder, withIntermediateDirectories: true)
    return settings
  }

  func data(_ machine: String) throws -> String { try settings(machine).dataFolder }

  func store() throws -> StandbyStore { try StandbyAssembly(settings("reader")).store }

  func start(
    _ machine: String, node: String? = nil, isStandby: Bool = false,
    state: StandbyState = StandbyState()
  ) throws -> StandbyStart {
    let settings = try settings(machine)
    return StandbyStart(
      assembly: try StandbyAssembly(settings), settings: settings,
      folder: DataFolder(path: settings.dataFolder),
      identity: LeaseTaking.Identity(node: node ?? machine, host: machine, version: Version.text),
      isStandby: isStandby, state: state, environment: [:],
      logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
  }

  /// Waits until a machine leads, and opens its database.
  func lead(_ machine: String, isStandby: Bool = false) async throws -> Primary {
    try await Primary(
      try await start(machine, isStandby: isStandby).run(), folder: data(machine))
  }

  /// A machine that leads, with its open database.
  final class Primary: Sendable {
    let node: PrimaryNode
    let store: Store
    private let sending: Task<Void, Never>

    init(_ node: PrimaryNode, folder: String) async throws {
      self.node = node
      let sender = node.sender
      sending = Task { await sender.run() }
      var configuration = StoreConfiguration(
        folder: folder, segment: .random(in: 1...UInt64.max), opened: Timestamp(milliseconds: 0))
      configuration.role = node.storeRole
      store = try Store.open(configuration, types: StandbyFixture.types)
      node.noteOpened(store)
      try await node.settle()
    }

    func register(_ id: String) async throws {
      try await store.register(
        Device(
          id: id, platform: "ios", name: id, registered: Timestamp(milliseconds: 1),
          lastUsed: Timestamp(milliseconds: 1)), tokenDigest: "digest \(id)")
    }

    /// Ends as at a signal.
    func end() async {
      store.close()
      await node.end()
      sending.cancel()
      await sending.value
    }

    /// Nothing is sent or renewed any more, as while the process is stopped.
    func pause() async {
      sending.cancel()
      await sending.value
    }

    /// Ends as at a kill: nothing more is sent and the lease is not released.
    func kill() async {
      await pause()
      store.close()
    }

    func send() async -> Bool {
      await node.sender.flush(upTo: store.position, atMost: .seconds(60))
    }
  }

  /// Lets a machine follow until it is at a position, and ends it.
  func follow(_ machine: String, to position: Int64) async throws {
    let state = StandbyState()
    let start = try start(machine, isStandby: true, state: state)
    let following = Task { _ = try await start.run() }
    let isThere = await eventuallyHolds { state.present.position >= position }
    following.cancel()
    _ = await following.result
    guard isThere else {
      struct IsBehind: Error { let position: Int64, phase: String }
      throw IsBehind(position: state.present.position, phase: state.present.phase)
    }
  }

  /// All rows of a database by table, sorted; without its place in the log if that is not to be compared.
  static func contents(_ path: String, withPlace: Bool = true) throws -> [String: [String]] {
    var settings = Configuration()
    settings.readonly = true
    return try DatabaseQueue(path: path, configuration: settings).read { db in
      let tables = try String.fetchAll(
        db,
        sql: """
          SELECT name FROM pragma_table_list WHERE schema = 'main' AND type IN ('table', 'shadow') \
          AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
          """)
      var contents: [String: [String]] = [:]
      for table in tables where withPlace || table != "cluster_position" {
        contents[table] = try Row.fetchAll(db, sql: "SELECT * FROM \"\(table)\"").map(\.description)
          .sorted()
      }
      return contents
    }
  }
}
