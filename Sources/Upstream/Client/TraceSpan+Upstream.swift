import HTTPClient
import HTTPTypes
import Traces
import Transport

extension TraceSpan {
  /// Notes a call by the names of OpenTelemetry's conventions for HTTP clients: neither the query of the URL,
  /// which can contain a key, nor fields, documents or variables.
  func describe(_ request: HTTPClientRequest) {
    set("http.request.method", request.method.rawValue)
    let path = request.url.target.prefix { $0 != "?" }
    let origin = request.url.origin
    set("url.full", "\(origin.scheme.rawValue)://\(origin.authority)\(path)")
    switch origin.endpoint {
    case .host(let host, let port):
      set("server.address", host)
      set("server.port", Int(port))
    case .unix(let path):
      set("server.address", path)
    }
    if !request.operation.isEmpty { set("larder.operation", request.operation) }
  }

  func note(_ response: HTTPClientResponse) {
    let status = response.status.code
    set("http.response.status_code", status)
    if status >= 400 { fail("\(status)") }
  }
}

extension UpstreamFailure {
  /// One of a few names, for the type of an error.
  var name: String {
    switch self {
    case .notSent: "not_sent"
    case .busy: "busy"
    case .timeout: "timeout"
    case .lost: "lost"
    case .status(let status, _): "\(status)"
    case .malformed: "malformed"
    case .tooLarge: "too_large"
    case .cancelled: "cancelled"
    case .refused: "refused"
    case .serviceRefused: "service_credential"
    case .rejected: "rejected"
    }
  }
}
