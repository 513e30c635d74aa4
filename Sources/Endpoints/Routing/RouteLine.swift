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

/// The endpoints that the lines of the route table call.
struct EndpointSet: Sendable {
  let operating: OperatingEndpoint
  let operation: OperationEndpoint
  let entities: EntitiesEndpoint
  let devices: DevicesEndpoint
  let accounts: AccountsEndpoint
  let changes: ChangesEndpoint
  let diffs: ListDiffEndpoint
  let tickets: StreamTicketsEndpoint
  let writes: EntityWritesEndpoint
  let admin: AdminEndpoint
  let maintenance: MaintenanceEndpoint
  let tables: TablesEndpoint
  let mutations: MutationsEndpoint
  let queue: QueueEndpoint
  let push: PushEndpoint
  let storedFiles: FilesEndpoint
  let s3: S3Endpoint
  let s3Keys: S3KeysEndpoint
  /// Nil if no folder is served.
  let files: StaticFiles?
}
