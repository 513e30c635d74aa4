package import Gateway
import HTTPServer
import HTTPTypes
import Model

/// `/metrics`: counters in Prometheus' text format, on the service's own addresses or apart.
package struct MetricsEndpoint: Sendable {
  /// Who may read the metrics.
  package enum Access: Sendable {
    case open
    case admin
  }

  private let access: Access
  private let callers: CallerIdentifier
  /// The text; its parameter says whether it names the hosts that the service calls.
  private let text: @Sendable (_ showsHosts: Bool) -> String

  package init(
    access: Access, callers: CallerIdentifier, text: @escaping @Sendable (Bool) -> String
  ) {
    self.access = access
    self.callers = callers
    self.text = text
  }

  func respond(to request: ServerRequest) -> ServerResponse {
    let isAdmin = callers.isAdmin { request.field($0) }
    guard isAdmin || access == .open else {
      return .failure(
        Failure(.unauthenticated, "`/metrics` takes the admin token here (`metrics.access`)."),
        request: request)
    }
    return ServerResponse(
      contentType: "text/plain; version=0.0.4; charset=utf-8",
      bytes: Array(text(isAdmin).utf8), fields: [.cacheControl: "no-store"])
  }
}
