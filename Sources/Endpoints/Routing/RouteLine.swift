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
  package let effect: RouteEffect
  let ticket: TicketUse
  /// What operators' credentials are good for.
  let operators: OperatorRule
  /// Which nodes of a cluster answer.
  package let place: RoutePlace
  package let reach: WriteReach
  private let content: ContentRule
  private let refuseMethod: Respond?
  private let respond: Respond

  /// - Parameters:
  ///   - effect: nil for the usual one: a `GET` reads, and all other methods write.
  ///   - operators: nil for the usual rule: paths below `/v1/admin` are for operators only.
  ///   - place: nil for the usual one, see ``RoutePlace``.
  ///   - reach: the nodes that must have applied a write before it is answered.
  ///   - refuseMethod: see ``HTTPServer/Route/refuseMethod``.
  init(
    _ method: RequestMethod, _ pattern: RoutePattern, of operation: String? = nil,
    ticket: TicketUse = .refused, effect: RouteEffect? = nil, operators: OperatorRule? = nil,
    place: RoutePlace? = nil, reach: WriteReach = .leader,
    content: ContentRule = ContentRule(), refuseMethod: Respond? = nil,
    respond: @escaping Respond
  ) {
    self.method = method
    self.pattern = pattern
    self.operation = operation
    self.effect = effect ?? (method == .get ? .reads : .writes)
    self.ticket = ticket
    self.operators = operators ?? .rule(of: pattern)
    self.place = place ?? .place(of: method, pattern)
    self.reach = reach
    self.content = content
    self.refuseMethod = refuseMethod
    self.respond = respond
  }

  func route(to endpoints: EndpointSet) -> Route {
    Route(
      method, pattern, content: content,
      refuseMethod: refuseMethod.map { Self.bind($0, to: endpoints) },
      respond: placed(
        Self.bind(settled(checked(admitted), in: endpoints), to: endpoints), in: endpoints))
  }

  /// On a replica, has the leader answer what it must.
  private func placed(
    _ respond: @escaping Route.Respond, in endpoints: EndpointSet
  ) -> Route.Respond {
    guard let replica = endpoints.replica else { return respond }
    let line = ReplicaRouting.Line(
      place: place, takesTickets: ticket == .stream || ticket == .endpoint,
      opensSockets: ticket == .endpoint && method == .get, content: content)
    return { request in await replica.respond(to: request, of: line, local: respond) }
  }

  /// On the leader, waits for the other nodes where the line says so.
  private func settled(_ respond: @escaping Respond, in endpoints: EndpointSet) -> Respond {
    guard reach == .everyNode, let leader = endpoints.leader else { return respond }
    return { endpoints, request in
      var response = await respond(endpoints, request)
      await leader.settle(&response)
      return response
    }
  }

  /// Refuses callers that the line is not for: device tokens that only read, operators who only read, and on
  /// operators' paths all others.
  private var admitted: Respond {
    let (effect, rule, respond) = (effect, operators, respond)
    guard effect == .writes || rule == .required else { return respond }
    return { endpoints, request in
      let context = endpoints.context
      if effect == .writes, let refusal = await context.refuseReader(request) { return refusal }
      if let refusal = await context.refuse(request, by: rule, effect: effect) { return refusal }
      return await respond(endpoints, request)
    }
  }

  /// Refuses tickets where the line does not take them.
  private func checked(_ respond: @escaping Respond) -> Respond {
    let (ticket, operation) = (ticket, operation)
    return { endpoints, request in
      guard request.head.query != nil else { return await respond(endpoints, request) }
      do throws(Failure) {
        try ticket.check(request) {
          endpoints.operation.hasVariable(
            ServerRequest.ticketName, operation: operation ?? request.parameters["name"] ?? "")
        }
      } catch {
        return .failure(error, request: request)
      }
      return await respond(endpoints, request)
    }
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
  fileprivate let context: EndpointContext
  /// Nil on a node that is not a replica.
  let replica: ReplicaRouting?
  let responseCache: ResponseCache
  let deltas: DeltaResponseCache
  let fileResponseCache: FileResponseCache
  /// Of all operations, in the order of the places by which metrics count them.
  let operationNames: [String]
  /// Stored, because its documents are rendered once.
  let operating: OperatingEndpoint
  /// Stored, because most requests call it.
  let operation: OperationEndpoint
  /// Stored for the same reason.
  let graphQL: GraphQLEndpoint

  init(_ services: Services) {
    let forwarded = services.callers.forwardedNames
    self.services = services
    replica = ReplicaRouting(services)
    operationNames = services.operations.directory.operations.map(\.name).sorted()
    let operationNumbers = Dictionary(
      zip(operationNames, Int32(0)...), uniquingKeysWith: { first, _ in first })
    var context = EndpointContext(
      callers: services.callers, queue: services.sync, cors: services.cors,
      bodyBytesMax: services.bodyBytesMax,
      streamStallMax: services.streamStallMax, clock: services.clock, logger: services.logger)
    context.operationNumbers = operationNumbers
    context.loggedIDs = services.loggedIDs
    context.logThreshold = services.logThreshold
    self.context = context
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
        clock: services.clock,
        source: { [parts = services.parts, source = services.openAPI] in
          var source = try source()
          source.template = parts.filter(openAPI: source.template)
          return source
        },
        examples: {
          [
            examples = PublicExamples(
              operations: services.operations, entities: services.entities,
              callers: services.callers)
          ] in await examples.found()
        }),
      health: services.health, metrics: services.metrics)
    let reads = ReadResponseWriter(
      cursors: services.cursors, cache: responseCache, operationNumbers: operationNumbers,
      forwardedNames: forwarded, isBehindCDN: services.isBehindCDN,
      compressionBytesMin: services.compressionBytesMin)
    let mutations = DirectMutations(operations: services.operations, queue: services.sync)
    operation = OperationEndpoint(
      context: context, operations: services.operations, subscriptions: services.subscriptions,
      mutations: mutations, reads: reads)
    graphQL = GraphQLEndpoint(
      context: context,
      operations: GraphQLOperations(
        operations: services.operations, unregistered: services.unregistered,
        mutations: mutations, subscriptions: services.subscriptions),
      reads: reads, cors: services.cors)
  }

  /// Nil on a node that is not the leader of a cluster.
  var leader: LeaderDuties? { services.role.leader }

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
  var listStreams: ListStreamEndpoint {
    ListStreamEndpoint(context: context, lists: services.live.lists, entities: entities)
  }
  var live: LiveEndpoint {
    LiveEndpoint(
      context: context, streams: services.live.streams,
      sources: LiveSources(
        operations: services.operations, subscriptions: services.subscriptions,
        changes: services.changes, lists: services.live.lists))
  }
  var tickets: StreamTicketsEndpoint { StreamTicketsEndpoint(context: context) }
  var writes: EntityWritesEndpoint {
    EntityWritesEndpoint(context: context, writes: services.writes)
  }
  var admin: AdminEndpoint {
    AdminEndpoint(context: context, operations: services.operations, purger: services.purger)
  }
  var liveStatus: LiveStatusEndpoint {
    LiveStatusEndpoint(
      context: context, subscriptions: services.subscriptions, standing: services.standing)
  }
  var upstreams: UpstreamsEndpoint {
    UpstreamsEndpoint(context: context, overview: services.upstreams)
  }
  var cluster: ClusterEndpoint { ClusterEndpoint(context: context, cluster: services.cluster) }
  var maintenance: MaintenanceEndpoint {
    MaintenanceEndpoint(
      context: context, console: services.sql, backups: services.backups,
      threshold: services.logThreshold)
  }
  var operatedDevices: OperatedDevicesEndpoint {
    OperatedDevicesEndpoint(context: context, devices: services.devices)
  }
  var provenance: ProvenanceEndpoint {
    ProvenanceEndpoint(
      context: context, provenance: services.console.provenance, clock: services.clock)
  }
  var overview: OverviewEndpoint {
    OverviewEndpoint(
      context: context, overview: services.console.overview,
      operations: services.operations.directory, devices: services.devices,
      signal: services.console.signal, version: services.version)
  }
  var logs: LogsEndpoint { LogsEndpoint(context: context, ring: services.console.log) }
  var settings: SettingsEndpoint {
    SettingsEndpoint(
      context: context, settings: services.console.settings, version: services.version)
  }
  var users: UsersEndpoint {
    UsersEndpoint(
      context: context, directory: services.console.accounts, epoch: responseCache.epoch)
  }
  var session: OperatorSessionEndpoint { OperatorSessionEndpoint(context: context) }
  var tables: TablesEndpoint { TablesEndpoint(context: context, tables: services.tables) }
  var mutations: MutationsEndpoint { MutationsEndpoint(context: context, queue: services.sync) }
  var queue: QueueEndpoint { QueueEndpoint(context: context, queue: services.sync) }
  var hooks: HooksEndpoint {
    HooksEndpoint(context: context, hooks: services.hooks, outgoing: services.hooksOut)
  }
  var push: PushEndpoint { PushEndpoint(context: context, push: services.push) }
  /// Nil if files are switched off.
  var storedFiles: FilesEndpoint? {
    services.storedFiles.map {
      FilesEndpoint(context: context, services: $0, cache: fileResponseCache)
    }
  }
  /// Nil if the S3 dialect is switched off.
  var s3: S3Endpoint? {
    services.s3.map { S3Endpoint(services: $0, failures: context.failures) }
  }
  var s3Keys: S3KeysEndpoint? {
    services.s3.map { S3KeysEndpoint(context: context, keys: $0.keys) }
  }
  var clientLibrary: ClientLibraryEndpoint { ClientLibraryEndpoint(find: services.clientFile) }
  /// Nil if no folder is served.
  var files: StaticFiles? { services.files }
}
