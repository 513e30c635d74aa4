import Gateway
import HTTPServer
import HTTPWire

/// The route table, on one screen.
struct LarderRoutes {
  let operating: OperatingEndpoint
  let operation: OperationEndpoint
  let entities: EntitiesEndpoint
  let devices: DevicesEndpoint
  let accounts: AccountsEndpoint
  let changes: ChangesEndpoint
  let diffs: ListDiffEndpoint
  let tickets: StreamTicketsEndpoint
  let localWrites: LocalWritesEndpoint?
  let admin: AdminEndpoint
  let maintenance: MaintenanceEndpoint
  let tables: TablesEndpoint
  let sync: SyncRoutes
  let descriptions: [OperationDescription]
  let files: StaticFiles?

  func all() throws(RouteTable.Conflict) -> [Route] {
    let fixed: [Route] = [
      Route(.get, "/healthz") { operating.alive($0) },
      Route(.get, "/readyz") { await operating.ready($0) },
      Route(.get, "/metrics") { operating.metrics($0) },
      Route(.get, "/openapi.json") { operating.openAPI($0) },

      Route(.get, "/v1/operations") { operating.list($0) },
      Route(.get, "/v1/operations/{name}") {
        await operation.get($0, operation: $0.name, by: .named)
      },
      Route(.post, "/v1/operations/{name}") {
        await operation.post($0, operation: $0.name, by: .named)
      },
      Route(.get, "/v1/operations/{name}/stream") {
        await operation.stream($0, operation: $0.name)
      },
      Route(.get, "/v1/operations/{name}/diff") { await diffs.get($0, operation: $0.name) },
      Route(.post, "/v1/operations/{name}/diff") { await diffs.post($0, operation: $0.name) },

      Route(.post, "/v1/devices") { await devices.register($0) },
      Route(.get, "/v1/devices/me") { await devices.show($0) },
      Route(.patch, "/v1/devices/me") { await devices.change($0) },
      Route(.delete, "/v1/devices/me") { await devices.remove($0) },
      Route(.post, "/v1/devices/me/rotate") { await devices.rotate($0) },

      Route(.post, "/v1/auth/sign-up") { await accounts.signUp($0) },
      Route(.post, "/v1/auth/sign-in") { await accounts.signIn($0) },
      Route(.post, "/v1/auth/refresh") { await accounts.refresh($0) },
      Route(.post, "/v1/auth/sign-out") { await accounts.signOut($0) },
      Route(.post, "/v1/auth/check-password") { await accounts.checkPassword($0) },
      Route(.put, "/v1/auth/password") { await accounts.changePassword($0) },
      Route(.get, "/v1/auth/me") { await accounts.me($0) },
      Route(.get, "/.well-known/jwks.json") { await accounts.keys($0) },

      Route(.get, "/v1/changes") { await changes.page($0) },
      Route(.get, "/v1/changes/stream") { await changes.stream($0) },
      Route(.post, "/v1/stream-tickets") { await tickets.issue($0) },

      Route(.post, "/v1/admin/purge") { await admin.purge($0) },
      Route(.post, "/v1/admin/explain") { await admin.explain($0) },
      Route(.post, "/v1/admin/sql") { await maintenance.sql($0) },
      Route(.get, "/v1/admin/log-level") { await maintenance.showLogLevel($0) },
      Route(.put, "/v1/admin/log-level") { await maintenance.setLogLevel($0) },
      Route(.post, "/v1/admin/backup") { await maintenance.backUp($0) },
      Route(.get, "/v1/admin/tables") { await tables.list($0) },
      Route(.post, "/v1/admin/tables/clean-up") { await tables.cleanUp($0) },
      Route(.delete, "/v1/admin/tables/{type}") { await tables.drop($0) },
    ]
    return fixed + EntityRoutes(entities: entities).all + (localWrites?.routes ?? []) + sync.all
      + descriptions.compactMap(route) + publicFiles
  }

  /// The path that an operation's `@route` asks for.
  private func route(_ description: OperationDescription) -> Route? {
    guard let path = description.route, let pattern = RoutePattern("/api\(path)") else {
      return nil
    }
    let name = description.name
    switch description.kind {
    case .query:
      return Route(.get, pattern) { await operation.get($0, operation: name, by: .routed) }
    case .mutation:
      return Route(.post, pattern) { await operation.post($0, operation: name, by: .routed) }
    case .subscription: return nil
    }
  }

  private var publicFiles: [Route] {
    guard let files else { return [] }
    return [
      Route(.get, "/{path...}") { await files.respond(to: $0, path: $0.parameters["path"] ?? "") }
    ]
  }
}

extension ServerRequest {
  fileprivate var name: String { parameters["name"] ?? "" }
}
