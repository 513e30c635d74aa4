import Gateway
package import HTTPServer
import HTTPTypes
package import HTTPWire
import LosslessJSON

/// Everything Larder answers: the shelf of ready answers first, then CORS, then the routes.
package final class LarderHandler: RequestHandler {
  private let shelf: ResponseCache
  private let deltas: DeltaResponseCache
  private let cors: CORSPolicy
  private let router: Router
  private let fileResponseCache: FileResponseCache
  /// The S3 dialect at the root, for addresses of its own.
  package let s3Root: S3RootHandler
  /// What is served, `METHOD /pattern`, in the order of the route table.
  package let served: [String]

  package init(_ services: Services) throws(RouteTable.Conflict) {
    let forwarded = services.callers.forwardedNames
    let context = EndpointContext(
      callers: services.callers, queue: services.sync, bodyBytesMax: services.bodyBytesMax,
      streamStallMax: services.streamStallMax, logger: services.logger)
    let descriptions = services.operations.directory.descriptions
    shelf = ResponseCache(
      cursors: services.cursors, forwardedNames: forwarded, hasCORS: services.cors.isOn,
      bytesMax: services.shelfBytesMax)
    deltas = DeltaResponseCache(
      cursors: services.cursors,
      plain: .changes(forwardedNames: forwarded, hasCORS: services.cors.isOn),
      compressionBytesMin: services.compressionBytesMin)
    let fileResponseCache = FileResponseCache(hasCORS: services.cors.isOn)
    self.fileResponseCache = fileResponseCache
    var policy = services.cors
    policy.forwardedNames = forwarded
    cors = policy
    let s3 = S3Endpoint(services: services.s3, logger: services.logger)
    s3Root = S3RootHandler(endpoint: s3, cors: services.cors, host: services.s3.host)
    let operation = OperationEndpoint(
      context: context, operations: services.operations, queue: services.sync,
      answers: ReadResponseWriter(
        cursors: services.cursors, shelf: shelf, forwardedNames: forwarded,
        compressionBytesMin: services.compressionBytesMin))
    let endpoints = EndpointSet(
      operating: OperatingEndpoint(
        context: context, operations: descriptions, version: services.version,
        health: services.health, metrics: services.metrics),
      operation: operation,
      entities: EntitiesEndpoint(
        context: context, entities: services.entities, cursors: services.cursors),
      devices: DevicesEndpoint(context: context, devices: services.devices),
      accounts: AccountsEndpoint(
        context: context, accounts: services.accounts, signingKeys: services.signingKeys,
        epoch: shelf.epoch),
      changes: ChangesEndpoint(context: context, feed: services.changes, deltas: deltas),
      diffs: ListDiffEndpoint(
        context: context, operations: services.operations, lists: services.lists),
      tickets: StreamTicketsEndpoint(context: context),
      writes: EntityWritesEndpoint(context: context, writes: services.writes),
      admin: AdminEndpoint(
        context: context, operations: services.operations, purger: services.purger),
      maintenance: MaintenanceEndpoint(
        context: context, console: services.console, backups: services.backups,
        threshold: services.logThreshold),
      tables: TablesEndpoint(context: context, tables: services.tables),
      mutations: MutationsEndpoint(context: context, queue: services.sync),
      queue: QueueEndpoint(context: context, queue: services.sync),
      push: PushEndpoint(context: context, push: services.push),
      storedFiles: FilesEndpoint(
        context: context, services: services.storedFiles, shelf: fileResponseCache),
      s3: s3,
      s3Keys: S3KeysEndpoint(context: context, keys: services.s3.keys),
      files: services.files)
    let lines = LarderRoutes.lines(
      for: descriptions, hasPages: services.files != nil, hasMetrics: services.hasMetrics)
    served = lines.map { "\($0.method.name) \($0.pattern)" }
    router = try Router(lines.map { $0.route(to: endpoints) })
  }

  package func answerAtOnce(
    _ head: borrowing RequestHead, stamp: ResponseStamp, into output: inout [UInt8]
  ) -> Bool {
    if s3Root.isAsked(head) { return false }
    if let answer = shelf.find(head) {
      return shelf.write(answer, for: head, stamp: stamp, to: &output)
    }
    if deltas.answer(head, stamp: stamp, into: &output) { return true }
    return fileResponseCache.answer(head, stamp: stamp, into: &output)
  }

  package func contentRule(for head: borrowing RequestHead) -> ContentRule {
    s3Root.isAsked(head) ? s3Root.contentRule(for: head) : router.contentRule(for: head)
  }

  package func decorate(_ response: inout ServerResponse, for request: ServerRequest) {
    cors.decorate(&response, for: request)
  }

  package func refusal(
    of error: RequestError, path: ArraySlice<UInt8>, requestID: String
  ) -> RefusalContent? {
    guard S3Endpoint.contains(path) else { return nil }
    return S3Endpoint.refusal(of: error, path: path, requestID: requestID)
  }

  package func respond(to request: ServerRequest) async -> ServerResponse {
    if s3Root.isAsked(request.head) { return await s3Root.respond(to: request) }
    if let preflight = cors.preflight(request) { return preflight }
    var response = await router.respond(to: request)
    if request.method == .options, response.fields[.allow]?.contains("PATCH") == true {
      response.fields[.acceptPatch] = ServerResponse.acceptPatch
    }
    cors.decorate(&response, for: request)
    return response
  }
}
