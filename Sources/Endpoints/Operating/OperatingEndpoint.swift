import Gateway
import HTTPServer
import HTTPTypes
import HTTPWire
import LosslessJSON
import Model

/// Health, readiness, metrics, the list of operations and the OpenAPI document.
struct OperatingEndpoint: Sendable {
  let context: EndpointContext
  let health: HealthCheck
  let metrics: MetricsEndpoint
  private let listing: [UInt8]
  private let openAPI: OpenAPIContent

  init(
    context: EndpointContext, operations: [OperationDescription], openAPI: OpenAPIContent,
    health: HealthCheck, metrics: MetricsEndpoint
  ) {
    self.context = context
    self.health = health
    self.metrics = metrics
    listing = OperationListing.bytes(operations)
    self.openAPI = openAPI
  }

  func alive(_ request: ServerRequest) -> ServerResponse {
    .json(Array(#"{"status":"alive"}"#.utf8))
  }

  func ready(_ request: ServerRequest) async -> ServerResponse {
    let report = await health.report()
    var members = [
      JSONMember("ready", .bool(report.isReady)),
      JSONMember("store", .string(report.store.rawValue)),
      JSONMember("operations", .number(JSONNumber(report.operationCount))),
      JSONMember("upstream", Self.word(report.isUpstreamReachable)),
    ]
    if report.upstreams.count > 1 {
      let states = report.upstreams.map { JSONMember($0.name.text, Self.word($0.isReachable)) }
      members.append(JSONMember("upstreams", .object(states)))
    }
    let refusing = report.upstreams.filter(\.refusesService)
    if !refusing.isEmpty {
      members.append(
        JSONMember("serviceCredentialRefused", .array(refusing.map { .string($0.name.text) })))
    }
    if report.isLooking { members.append(JSONMember("leader", "not looked for yet")) }
    members.append(JSONMember("draining", .bool(report.isDraining)))
    if let reload = report.reload {
      let state = [
        JSONMember("outcome", .string(reload.outcome.rawValue)),
        JSONMember("time", .string(reload.time.iso8601)),
      ]
      members.append(JSONMember("reload", .object(state)))
    }
    let body = JSONValue.object(members)
    var response = ServerResponse.json(
      body.bytes, status: report.isReady ? .ok : .serviceUnavailable)
    if !report.isReady { response.fields[.retryAfter] = "1" }
    return response
  }

  /// The state of an upstream.
  private static func word(_ isReachable: Bool?) -> JSONValue {
    isReachable.map { .string($0 ? "reachable" : "failing") } ?? "not asked yet"
  }

  /// The same list for every caller; a request with an invalid token is refused.
  func list(_ request: ServerRequest) async -> ServerResponse {
    await context.respond(to: request) { () async throws(Failure) in
      _ = try await context.caller(of: request)
      return .json(listing, cacheControl: "no-cache")
    }
  }

  /// The same document for every caller; with `full` in the query, all paths of operations.
  func openAPI(_ request: ServerRequest) async -> ServerResponse {
    await context.respond(to: request) { () async throws(Failure) in
      _ = try await context.caller(of: request)
      let document = try await openAPI.document(isFull: try Self.isFull(request))
      let tag = EntityTag(document.tag)
      let fields: HTTPFields = [.eTag: tag.text, .cacheControl: "no-cache"]
      switch request.preconditions.judge(isRead: true, tag: tag) {
      case .notModified:
        return ServerResponse(status: .notModified, fields: fields, isCompressible: true)
      case .failed:
        throw Failure(.preconditionFailed, "A precondition of the request failed.")
      case .proceed:
        return ServerResponse(
          contentType: "application/json", bytes: document.bytes, fields: fields)
      }
    }
  }

  private static func isFull(_ request: ServerRequest) throws(Failure) -> Bool {
    guard let full = try request.queryParameters().first(where: { $0.name == "full" }) else {
      return false
    }
    switch full.value {
    case "", "true": return true
    case "false": return false
    default:
      throw Failure(
        .malformedRequest, "The parameter full is invalid.",
        details: [Failure.Detail(place: .parameter("full"), detail: "must be true, false or empty")]
      )
    }
  }
}
