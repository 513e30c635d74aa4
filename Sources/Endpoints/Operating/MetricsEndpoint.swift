package import Gateway
import HTTPServer
import HTTPTypes
import Model

/// `/metrics`: metrics in Prometheus' text format or in OpenMetrics', on the service's addresses or separate ones.
package struct MetricsEndpoint: Sendable {
  /// The callers that can read the metrics.
  package enum Access: Sendable {
    case open
    case admin
  }

  private let access: Access
  /// A token for the metrics alone; nil for none.
  private let token: [UInt8]?
  private let callers: CallerIdentifier
  /// Renders the metrics.
  private let text: Render

  /// - Parameters:
  ///   - showsHosts: whether the hosts that the service calls are named.
  ///   - isOpenMetrics: OpenMetrics 1.0, or else the Prometheus text format 0.0.4.
  package typealias Render = @Sendable (_ showsHosts: Bool, _ isOpenMetrics: Bool) -> String

  package init(
    access: Access, token: String? = nil, callers: CallerIdentifier, text: @escaping Render
  ) {
    self.access = access
    self.token = token.map { Array($0.utf8) }
    self.callers = callers
    self.text = text
  }

  func respond(to request: ServerRequest) -> ServerResponse {
    let isAdmin = callers.operatorRole { request.field($0) } != nil
    guard isAdmin || access == .open && token == nil || hasToken(request) else {
      return .failure(
        Failure(
          .unauthenticated,
          token == nil
            ? "`/metrics` requires the admin token (setting `metrics.access`)."
            : "`/metrics` requires the token of the setting `metrics.token`, or the admin token."),
        request: request)
    }
    let isOpenMetrics = Self.prefersOpenMetrics(request.field("accept"))
    return ServerResponse(
      contentType: isOpenMetrics
        ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
        : "text/plain; version=0.0.4; charset=utf-8",
      bytes: Array(text(isAdmin, isOpenMetrics).utf8),
      fields: [.cacheControl: "no-store", .vary: "Accept"])
  }

  private func hasToken(_ request: ServerRequest) -> Bool {
    guard let token,
      let given = request.field("authorization").flatMap(CallerIdentifier.bearerToken)
    else { return false }
    return constantTimeEqual(Array(given.utf8), token)
  }

  /// Whether an `Accept` field (RFC 9110 section 12.5.1) wants OpenMetrics 1 at least as much as plain
  /// text. A wildcard does not ask for it.
  static func prefersOpenMetrics(_ accept: String?) -> Bool {
    var (openMetrics, plain) = (0.0, 0.0)
    for range in (accept ?? "").lowercased().split(separator: ",") {
      let parts = range.split(separator: ";").map { part in
        String(part.filter { $0 != " " && $0 != "\t" })
      }
      let quality = parts.first { $0.hasPrefix("q=") }.map { Double($0.dropFirst(2)) ?? 0 } ?? 1
      let version = parts.first { $0.hasPrefix("version=") }?.dropFirst(8)
      switch parts.first {
      case "application/openmetrics-text" where version?.hasPrefix("1.") ?? true:
        openMetrics = max(openMetrics, quality)
      case "text/plain": plain = max(plain, quality)
      default: break
      }
    }
    return openMetrics > 0 && openMetrics >= plain
  }
}
