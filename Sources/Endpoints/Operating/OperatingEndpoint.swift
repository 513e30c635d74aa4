import Gateway
import HTTPServer
import HTTPTypes
import LosslessJSON

/// Health, readiness, metrics, the list of operations and the OpenAPI document.
struct OperatingEndpoint: Sendable {
  let health: HealthCheck
  let metrics: @Sendable () -> String
  private let listing: [UInt8]
  private let openAPI: [UInt8]

  init(
    operations: [OperationDescription], version: String, health: HealthCheck,
    metrics: @escaping @Sendable () -> String
  ) {
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
      "store": .string(report.isStoreWritable ? "writable" : "not writable"),
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

  func metrics(_ request: ServerRequest) -> ServerResponse {
    ServerResponse(
      contentType: "text/plain; version=0.0.4; charset=utf-8", bytes: Array(metrics().utf8),
      fields: [.cacheControl: "no-store"])
  }

  func list(_ request: ServerRequest) -> ServerResponse {
    .json(listing, cacheControl: "no-cache")
  }

  func openAPI(_ request: ServerRequest) -> ServerResponse {
    .json(openAPI, cacheControl: "no-cache")
  }
}
