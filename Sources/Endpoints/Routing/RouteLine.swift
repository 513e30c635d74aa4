import Gateway
package import HTTPServer
package import HTTPWire
import Model

/// One line of the route table, not yet bound to an endpoint. `larder routes` lists the same lines that
/// the router is built from.
package struct RouteLine: Sendable {
  typealias Respond = @Sendable (EndpointSet, ServerRequest) async -> ServerResponse

  package let method: RequestMethod
  package let pattern: RoutePattern
  /// The operation it serves; nil for a path of the service's own.
  package let operation: String?
  private let content: ContentRule
  private let refuseMethod: Respond?
  private let respond: Respond

  /// - Parameter refuseMethod: see ``HTTPServer/Route/refuseMethod``.
  init(
    _ method: RequestMethod, _ pattern: RoutePattern, of operation: String? = nil,
    content: ContentRule = ContentRule(), refuseMethod: Respond? = nil,
    respond: @escaping Respond
  ) {
    self.method = method
    self.pattern = pattern
    self.operation = operation
    self.content = content
    self.refuseMethod = refuseMethod
    self.respond = respond
  }

  func route(to endpoints: EndpointSet) -> Route {
    Route(
      method, pattern, content: content,
      refuseMethod: refuseMethod.map { Self.bind($0, to: endpoints) },
      respond: Self.bind(respond, to: endpoints))
  }

  private static func bind(
    _ respond: @escaping Respond, to endpoints: EndpointSet
  ) -> Route.Respond {
    { request in await respond(endpoints, request) }
  }
}

/// The endpoints that the lines of the route table call, each with the services it uses.
///
/// An endpoint is a value without state of its own, so most are made for each request.
struct EndpointSet: Sendable {
  private let services: Services
  private let context: EndpointContext
  let responseCache: ResponseCache
  let deltas: DeltaResponseCache
  let fileResponseCache: FileResponseCache
  /// Stored, because its documents are rendered once.
  let operating: OperatingEndpoint
  /// Stored, because most requests call it.
  let operation: OperationEndpoint

  init(_ services: Services) {
    let forwarded = services.callers.forwardedNames
    self.services = services
    context = EndpointContext(
      callers: services.callers, queue: services.sync, bodyBytesMax: services.bodyBytesMax,
      streamStallMax: services.streamStallMax, logger: services.logger)
    responseCache = ResponseCache(
      cursors: services.cursors, forwardedNames: forwarded, hasCORS: services.cors.isOn,
      bytesMax: services.responseCacheBytesMax)
    deltas = DeltaResponseCache(
      cursors: services.cursors,
      plain: .changes(forwardedNames: forwarded, hasCORS: services.cors.isOn),
      compressionBytesMin: services.compressionBytesMin)
    fileResponseCache = FileResponseCache(hasCORS: services.cors.isOn)
    operating = OperatingEndpoint(
      context: context, operations: services.operations.directory.descriptions,
      openAPI: OpenAPIContent(
        operations: services.operations.directory.descriptions, version: services.version,
        template: services.openAPITemplate),
      health: services.health, metrics: services.metrics)
    operation = OperationEndpoint(
      context: context, operations: services.operations, queue: services.sync,
      reads: ReadResponseWriter(
        cursors: services.cursors, cache: responseCache, forwardedNames: forwarded,
        compressionBytesMin: services.compressionBytesMin))
  }

  var entities: EntitiesEndpoint {
    EntitiesEndpoint(context: context, entities: services.entities, cursors: services.cursors)
  }
  var devices: DevicesEndpoint { DevicesEndpoint(context: context, devices: services.devices) }
  var accounts: AccountsEndpoint {
    AccountsEndpoint(
      context: context, accounts: services.accounts, signingKeys: services.signingKeys,
      epoch: responseCache.epoch)
  }
  var changes: ChangesEndpoint {
    ChangesEndpoint(context: context, feed: services.changes, deltas: deltas)
  }
  var diffs: ListDiffEndpoint {
    ListDiffEndpoint(context: context, operations: services.operations, lists: services.lists)
  }
  var tickets: StreamTicketsEndpoint { StreamTicketsEndpoint(context: context) }
  var writes: EntityWritesEndpoint {
    EntityWritesEndpoint(context: context, writes: services.writes)
  }
  var admin: AdminEndpoint {
    AdminEndpoint(context: context, operations: services.operations, purger: services.purger)
  }
  var maintenance: MaintenanceEndpoint {
    MaintenanceEndpoint(
      context: context, console: services.console, backups: services.backups,
      threshold: services.logThreshold)
  }
  var tables: TablesEndpoint { TablesEndpoint(context: context, tables: services.tables) }
  var mutations: MutationsEndpoint { MutationsEndpoint(context: context, queue: services.sync) }
  var queue: QueueEndpoint { QueueEndpoint(context: context, queue: services.sync) }
  var push: PushEndpoint { PushEndpoint(context: context, push: services.push) }
  var storedFiles: FilesEndpoint {
    FilesEndpoint(context: context, services: services.storedFiles, cache: fileResponseCache)
  }
  var s3: S3Endpoint { S3Endpoint(services: services.s3, logger: services.logger) }
  var s3Keys: S3KeysEndpoint { S3KeysEndpoint(context: context, keys: services.s3.keys) }
  /// Nil if no folder is served.
  var files: StaticFiles? { services.files }
}
