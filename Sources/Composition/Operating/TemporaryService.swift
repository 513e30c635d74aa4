import FoundationEssentials
import Gateway
import HTTPClient
import HTTPTypes
import HTTPWire
import Logging
import Model
import Transport

/// A service in this process, on a free port of the loopback interface and with a data folder of its own,
/// which is removed with it. It makes no call on its own: no polls, standing subscriptions or notifications.
struct TemporaryService {
  /// How long a request can take, calls upstream included.
  private static let timeout = Duration.seconds(8)
  private static let responseBytesMax = 64 << 20

  /// `http://127.0.0.1:PORT`
  let address: String
  private let client: HTTPClient

  /// Starts a service, calls `body` with it, and ends it.
  static func run<Result>(
    _ workspace: Workspace, body: (TemporaryService) async throws -> Result
  ) async throws -> Result {
    let manager = FileManager.default
    let folder = manager.temporaryDirectory.appending(path: "larder-trial-\(UUID().uuidString)")
      .path
    try manager.createDirectory(
      atPath: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
    defer { try? manager.removeItem(atPath: folder) }
    let (listening, told) = AsyncStream<[SocketAddress]>.makeStream()
    let service = try await LarderService.open(
      isolated(workspace, folder: folder), metrics: PrometheusRegistry(),
      logger: Logger(label: "larder") { _ in SwiftLogNoOpLogHandler() },
      logThreshold: LogThreshold(.critical), environment: [:]
    ) { addresses in
      told.yield(addresses)
      told.finish()
    }
    let running = Task {
      defer { told.finish() }
      try await service.run()
    }
    let group = try EventLoopGroup(count: 1)
    let client = HTTPClient(group: group, random: { 0.5 })
    func end() async {
      await client.close()
      await group.shutdown()
      running.cancel()
      _ = await running.result
    }
    do {
      guard let first = await listening.first(where: { _ in true })?.first else {
        // Its reason.
        try await running.value
        throw StartFailure(.addressInUse, "The temporary service did not listen.")
      }
      let result = try await body(
        TemporaryService(
          address: ListeningAddress.text(first, scheme: "http"), client: client))
      await end()
      return result
    } catch {
      await end()
      throw error
    }
  }

  /// The same operations with settings that reach nothing but upstream, and that only when a request needs it.
  private static func isolated(_ workspace: Workspace, folder: String) -> Workspace {
    let loaded = workspace.loaded
    var settings = loaded.settings
    settings.listen = [.tcp(host: "127.0.0.1", port: 0)]
    settings.publicURL = nil
    settings.dataFolder = folder
    settings.isDataEncrypted = false
    // No pages, so that the embedded ones are not unpacked.
    settings.publicFolder = folder
    settings.tls = TLSSettings()
    settings.metrics.listen = []
    settings.s3.listen = []
    settings.files = FilesSettings()
    settings.push = PushSettings()
    settings.outgoingHooks = []
    settings.upstream = settings.upstream.passive
    settings.upstreams = settings.upstreams.mapValues(\.passive)
    settings.limits.rateMax = nil
    return Workspace(
      loaded: LoadedSettings(
        settings: settings, notes: loaded.notes, places: loaded.places, excerpt: loaded.excerpt),
      registry: workspace.registry, local: workspace.local, links: workspace.links, warnings: [])
  }

  /// Sends a request.
  ///
  /// - Parameters:
  ///   - target: path and query, percent-encoded.
  ///   - json: the body of a POST.
  func request(
    _ target: String, fields: [(name: String, value: String)] = [], json: String? = nil
  ) async throws -> HTTPClientResponse {
    var headers = HTTPFields()
    for field in fields {
      if let name = HTTPField.Name(field.name) { headers[name] = field.value }
    }
    if json != nil { headers[.contentType] = "application/json" }
    return try await client.execute(
      HTTPClientRequest(
        method: json == nil ? .get : .post, url: try HTTPURL(address + target), fields: headers,
        body: json.map { Array($0.utf8) } ?? [], responseBytesMax: Self.responseBytesMax),
      within: Self.timeout)
  }
}

extension UpstreamSettings {
  /// The same without calls that no request asks for.
  fileprivate var passive: UpstreamSettings {
    var settings = self
    settings.standing = []
    settings.polls = []
    return settings
  }
}
