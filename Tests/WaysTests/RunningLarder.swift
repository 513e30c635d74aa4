import Composition
import DemoUpstream
import Foundation
import Gateway
import HTTPServer
import TestSupport
import Transport

/// Larder with the film library behind it, both in this process and on ports of their own.
final class RunningLarder {
  static let adminToken = String(repeating: "a", count: 40)
  static let viewerToken = String(repeating: "v", count: 40)

  /// Removes at the end of the process what the service unpacks when no checkout is near the binary.
  private static let cleansUp: Void = { _ = atexit { ShippedFiles.removeUnpacked() } }()

  let demo: DemoServer
  let folder: String
  private(set) var port = 0
  /// Of all addresses, in the order of the settings.
  private(set) var ports: [Int] = []
  /// Everything that was logged, at its fullest.
  let log = RecordedLog()
  /// The lines of the log that operators see.
  let logRing = LogRing()
  /// The lines of the route table that is served, `METHOD /pattern`.
  private(set) var routes: [String] = []
  private var task: Task<Void, any Error>?
  /// Lines added to `larder.yaml`; others are of the next start of the service.
  var extraSettings: String
  /// Lines of the section `log`, indented by two; others are of the next start of the service.
  var logSettings = ""
  /// Where access lines of the next start of the service go; nil for standard error.
  var accessLines: LineSink?
  /// The text of `local.graphql`; another is of the next start of the service.
  var localTypes: String?
  /// See ``start(settings:operations:service:upstreamTimeout:upstream:schema:forward:recentMax:data:)``;
  /// another set is of the next start of the service.
  var operations: [String: String]
  private let service: String?
  private let upstreamTimeout: String
  private let upstream: String?
  /// Lines of the section `upstream`, indented.
  private let upstreamLines: String
  /// Instead of the film library's.
  private let schema: String?
  private let forward: String
  /// Whether files and backups are encrypted; of the next start of the service.
  var isEncrypted = false
  /// Makes the membership in a cluster of the next start of the service; nil for a service alone.
  var membership: (@Sendable (EventLoopGroup) throws -> ClusterMembership)?
  /// Variables of the next start of the service. They are not read as settings.
  var environment: [String: String] = [:]

  /// - Parameters:
  ///   - settings: lines added to `larder.yaml`.
  ///   - operations: files instead of the example's, by name; or `manifest.json` alone.
  ///   - service: a header of the service's own, `name: value`.
  ///   - upstream: the address of another upstream than the film library.
  ///   - upstreamLines: lines of the section `upstream`, indented by two.
  ///   - forward: names of the header fields passed upstream, separated by commas.
  ///   - recentMax: requests that the film library keeps for a look at them.
  ///   - data: a folder to begin with a copy of.
  ///   - isEncrypted: see `data.encryption`.
  ///   - environment: variables that are not settings.
  ///   - localTypes: the text of `local.graphql`; nil for no local types.
  static func start(
    settings: String = "", operations: [String: String] = [:], service: String? = nil,
    upstreamTimeout: String = "20s", upstream: String? = nil, upstreamLines: String = "",
    schema: String? = nil, forward: String = "authorization", recentMax: Int = 50,
    data: String? = nil, isEncrypted: Bool = false, environment: [String: String] = [:],
    localTypes: String? = nil
  ) async throws -> RunningLarder {
    var options = DemoOptions(now: { Int64(Date().timeIntervalSince1970) })
    options.recentMax = recentMax
    let demo = DemoServer(options)
    try await demo.start()
    let larder = try RunningLarder(
      demo: demo, settings: settings, operations: operations, service: service,
      upstreamTimeout: upstreamTimeout, upstream: upstream, upstreamLines: upstreamLines,
      schema: schema, forward: forward)
    larder.isEncrypted = isEncrypted
    larder.environment = environment
    larder.localTypes = localTypes
    if let data {
      try FileManager.default.copyItem(atPath: data, toPath: "\(larder.folder)/data")
    }
    try await larder.startService()
    return larder
  }

  private init(
    demo: DemoServer, settings: String, operations: [String: String], service: String?,
    upstreamTimeout: String, upstream: String?, upstreamLines: String, schema: String?,
    forward: String
  ) throws {
    self.demo = demo
    extraSettings = settings
    self.operations = operations
    self.service = service
    self.upstreamTimeout = upstreamTimeout
    self.upstream = upstream
    self.upstreamLines = upstreamLines
    self.schema = schema
    self.forward = forward
    folder =
      FileManager.default.temporaryDirectory
      .appending(path: "larder-ways-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
  }

  deinit {
    try? FileManager.default.removeItem(atPath: folder)
  }

  /// Starts another service with the same settings and a copy of the data, which must not be open, and with
  /// a film library of its own.
  func copy(
    membership: @escaping @Sendable (EventLoopGroup) throws -> ClusterMembership
  ) async throws -> RunningLarder {
    let demo = DemoServer(DemoOptions(now: { Int64(Date().timeIntervalSince1970) }))
    try await demo.start()
    let copy = try RunningLarder(
      demo: demo, settings: extraSettings, operations: operations, service: service,
      upstreamTimeout: upstreamTimeout, upstream: nil, upstreamLines: upstreamLines, schema: schema,
      forward: forward)
    copy.localTypes = localTypes
    copy.membership = membership
    try FileManager.default.copyItem(atPath: "\(folder)/data", toPath: "\(copy.folder)/data")
    try await copy.startService()
    return copy
  }

  /// One of several upstreams.
  struct UpstreamSetup {
    /// Lines of its section in `larder.yaml`.
    let settings: [String]
    let schema: String
    var operations: String
  }

  /// Starts Larder with several upstreams in place of the film library.
  static func start(
    upstreams: [String: UpstreamSetup], settings: String = ""
  ) async throws -> RunningLarder {
    let demo = DemoServer(DemoOptions(now: { Int64(Date().timeIntervalSince1970) }))
    try await demo.start()
    let larder = try RunningLarder(
      demo: demo, settings: settings, operations: [:], service: nil, upstreamTimeout: "20s",
      upstream: nil, upstreamLines: "", schema: nil, forward: "")
    larder.upstreams = upstreams
    try await larder.startService()
    return larder
  }

  /// By name; empty for one upstream. Another set is of the next start of the service.
  var upstreams: [String: UpstreamSetup] = [:]

  /// Opens the same data again after ``stopService()``.
  func startService() async throws {
    _ = Self.cleansUp
    if let localTypes {
      try Data(localTypes.utf8).write(to: URL(filePath: "\(folder)/local.graphql"))
    }
    let loaded = try Settings.load(
      from: SettingsSources(file: .init(name: "\(folder)/larder.yaml", text: try settingsText())))
    let (listening, told) = AsyncStream<[SocketAddress]>.makeStream()
    let service = try await LarderService.open(
      try Workspace.open(loaded, describesInterface: true),
      metrics: PrometheusRegistry(base: .ofProcess),
      logger: log.logger, logRing: logRing, logSink: accessLines, environment: environment,
      membership: membership
    ) { addresses in
      told.yield(addresses)
      told.finish()
    }
    routes = service.routes
    let task = Task {
      defer { told.finish() }
      try await service.run()
    }
    self.task = task
    guard let addresses = await listening.first(where: { _ in true }),
      let port = addresses.first?.port
    else { return try await task.value }
    self.port = Int(port)
    ports = addresses.compactMap { $0.port.map { Int($0) } }
  }

  func stopService() async {
    task?.cancel()
    _ = await task?.result
  }

  func stop() async {
    await stopService()
    await demo.stop()
  }

  /// A request on a connection of its own.
  func request(
    _ method: String, _ target: String, headers: [(String, String)] = [], body: String? = nil,
    port: Int? = nil
  ) async throws -> RawResponse {
    let hasType = headers.contains { $0.0 == "Content-Type" }
    let all = body == nil || hasType ? headers : headers + [("Content-Type", "application/json")]
    let port = port ?? self.port
    return try await onOwnThread {
      try RawClient(port: port).request(method, target, headers: all, body: body)
    }
  }

  func get(_ target: String, _ headers: (String, String)...) async throws -> RawResponse {
    try await request("GET", target, headers: headers)
  }

  func post(
    _ target: String, _ body: String, _ headers: (String, String)...
  ) async throws -> RawResponse {
    try await request("POST", target, headers: headers, body: body)
  }

  private func severalSettingsText() throws -> String {
    var sections: [String] = []
    for (name, setup) in upstreams.sorted(by: { $0.key < $1.key }) {
      try FileManager.default.createDirectory(
        atPath: "\(folder)/operations/\(name)", withIntermediateDirectories: true)
      try FileManager.default.createDirectory(
        atPath: "\(folder)/schemas", withIntermediateDirectories: true)
      try Data(setup.operations.utf8).write(
        to: URL(filePath: "\(folder)/operations/\(name)/all.graphql"))
      try Data(setup.schema.utf8).write(to: URL(filePath: "\(folder)/schemas/\(name).graphql"))
      sections.append(
        "  \(name):\n" + setup.settings.map { "    \($0)" }.joined(separator: "\n"))
    }
    return """
      listen: 127.0.0.1:0
      upstreams:
      \(sections.joined(separator: "\n"))
      admin:
        token: \(Self.adminToken)
        viewerToken: \(Self.viewerToken)
      log:
        level: error
      \(logSettings)
      \(extraSettings)
      """
  }

  private func settingsText() throws -> String {
    if !upstreams.isEmpty { return try severalSettingsText() }
    let examples = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "../../Examples/films").standardized.path
    var operationsFolder = "\(examples)/operations"
    if let manifest = operations["manifest.json"] {
      operationsFolder = "\(folder)/manifest.json"
      try Data(manifest.utf8).write(to: URL(filePath: operationsFolder))
    } else if !operations.isEmpty {
      operationsFolder = "\(folder)/operations"
      try? FileManager.default.removeItem(atPath: operationsFolder)
      try FileManager.default.createDirectory(
        atPath: operationsFolder, withIntermediateDirectories: true)
      for (name, text) in operations {
        try Data(text.utf8).write(to: URL(filePath: "\(operationsFolder)/\(name).graphql"))
      }
    }
    if let schema { try Data(schema.utf8).write(to: URL(filePath: "\(folder)/schema.graphql")) }
    return """
      listen: 127.0.0.1:0
      data: {path: \(folder)/data, encryption: \(isEncrypted)}
      operations: \(operationsFolder)
      schema: \(schema == nil ? examples : folder)/schema.graphql
      upstream:
        url: \(upstream ?? demo.url)
        forward: [\(forward)]
        timeout: \(upstreamTimeout)
      \(service.map { "  headers:\n    \($0)" } ?? "")
      \(upstreamLines)
      admin:
        token: \(Self.adminToken)
        viewerToken: \(Self.viewerToken)
      log:
        level: error
      \(logSettings)
      \(extraSettings)
      """
  }
}

extension RawResponse {
  /// The parameters of `Cache-Status` after the cache's name.
  var cacheStatus: String? { self["cache-status"].map { String($0.dropFirst("larder; ".count)) } }
}
