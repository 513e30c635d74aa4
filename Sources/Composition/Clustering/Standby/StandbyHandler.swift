import Gateway
import HTTPServer
import HTTPTypes
import HTTPWire
import LosslessJSON
import Model

/// Serves while this machine is a standby: only whether it is alive, what it follows, and its metrics. All else is
/// refused with 503, so that load balancers and clients go to the primary.
struct StandbyHandler: RequestHandler {
  private static let retryAfter = "2"

  /// Who can read the metrics.
  enum Access: Sendable {
    case open
    case tokens([[UInt8]])
    /// Other addresses serve them.
    case none

    init(_ settings: Settings) {
      if settings.metrics.access == .open, settings.metrics.token == nil {
        self = .open
      } else {
        let tokens = [settings.metrics.token, settings.adminToken, settings.viewerToken]
        self = .tokens(tokens.compactMap { $0.map { Array($0.revealed.utf8) } })
      }
    }
  }

  let state: StandbyState
  let metrics: Access

  func respond(to request: ServerRequest) async -> ServerResponse {
    switch request.path {
    case "/healthz": Self.json(["status": "alive"])
    case "/readyz": ready
    case "/metrics" where allows(request): text
    default: refusal(request)
    }
  }

  private var ready: ServerResponse {
    let values = state.present
    var standby: [JSONMember] = [
      JSONMember("phase", .string(values.phase)),
      JSONMember("position", .number(JSONNumber(values.position))),
      JSONMember("epoch", .number(JSONNumber(values.epoch))),
      JSONMember("lagSeconds", .number(JSONNumber(state.lag.wholeSeconds))),
    ]
    if let primary = values.primary { standby.append(JSONMember("primary", .string(primary))) }
    var response = Self.json(
      .object([JSONMember("ready", .bool(false)), JSONMember("standby", .object(standby))]),
      status: .serviceUnavailable)
    response.fields[.retryAfter] = Self.retryAfter
    return response
  }

  private var text: ServerResponse {
    ServerResponse(
      contentType: "text/plain; version=0.0.4; charset=utf-8",
      bytes: Array(MetricsText.text(ServiceMetrics.families(of: state), as: .prometheus).utf8),
      fields: [.cacheControl: "no-store"])
  }

  private func allows(_ request: ServerRequest) -> Bool {
    switch metrics {
    case .open: return true
    case .none: return false
    case .tokens(let tokens):
      guard
        let given = request.head["authorization"].flatMap({
          CallerIdentifier.bearerToken(String(decoding: $0, as: UTF8.self))
        })
      else { return false }
      return tokens.contains { constantTimeEqual(Array(given.utf8), $0) }
    }
  }

  /// Problem details (RFC 9457) with the code of a node without a leader.
  private func refusal(_ request: ServerRequest) -> ServerResponse {
    let code = Failure.Code.leaderUnavailable.rawValue
    var response = Self.json(
      .object([
        JSONMember("type", "about:blank"), JSONMember("title", "Service Unavailable"),
        JSONMember("status", .number(JSONNumber(Int64(503)))),
        JSONMember("code", .string(code)),
        JSONMember(
          "detail",
          "This machine is a standby. It serves when the primary has ended; send requests to that."),
        JSONMember("retry", "after"), JSONMember("requestId", .string(request.id)),
      ]), status: .serviceUnavailable)
    response.fields[.contentType] = "application/problem+json"
    response.fields[.retryAfter] = Self.retryAfter
    return response
  }

  private static func json(
    _ value: JSONValue, status: HTTPResponse.Status = .ok
  ) -> ServerResponse {
    ServerResponse(
      status: status, contentType: "application/json", bytes: value.bytes,
      fields: [.cacheControl: "no-store"])
  }
}
