import Gateway
import HTTPServer
import Model

/// What the lines of the route table lead to.
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
  /// Nil where there is no folder to serve.
  let files: StaticFiles?
}
