import Gateway
import HTTPServer
import HTTPTypes
import LosslessJSON
import Model

/// Health, readiness, metrics, the list of operations and the OpenAPI document.
struct OperatingEndpoint: Sendable {
  let context: EndpointContext
  let health: HealthCheck
  let metrics: MetricsEndpoint
  private let listing: [UInt8]
  private let openAPI: [UInt8]

  init(
    context: EndpointContext, operations: [OperationDescription], version: String,
    health: HealthCheck, metrics: MetricsEndpoint
  ) {
    self.context = context
    self.health = health
    self.metrics = metrics
    listing = OperationListing.bytes(operations)
    openAPI = OpenAPIDocument(operations: operations, version: version).value().bytes
  }

  func alive(_ request: ServerRequest) -> ServerResponse {
    .json(Array(#"{"status":"alive"}"#.utf8))
  }

  func ready(_ request: ServerRequest) async -> ServerResponse {
    let report = await health.report()
    let body: JSONValue = [
      "ready": .bool(report.isReady),
      "store": .string(report.store.rawValue),
      "operations": .number(JSONNumber(report.operationCount)),
      "upstream": report.isUpstreamReachable.map { .string($0 ? "reachable" : "failing") }
        ?? "not asked yet",
      "draining": .bool(report.isDraining),
    ]
    var response = ServerResponse.json(
      body.bytes, status: report.isReady ? .ok : .serviceUnavailable)
    if !report.isReady { response.fields[.retryAfter] = "1" }
    return response
  }

  func list(_ request: ServerRequest) async -> ServerResponse {
    await tell(listing, request)
  }

  func openAPI(_ request: ServerRequest) async -> ServerResponse {
    await tell(openAPI, request)
  }

  /// The same for everybody, but for whoever comes with a token that is not good.
  private func tell(_ document: [UInt8], _ request: ServerRequest) async -> ServerResponse {
    await context.answer(request) { () async throws(Failure) in
      _ = try await context.caller(of: request)
      return .json(document, cacheControl: "no-cache")
    }
  }
}
