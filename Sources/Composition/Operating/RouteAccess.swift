import Endpoints
import HTTPServer
import HTTPWire
import LosslessJSON

/// The callers that the service's own routes admit, in a word for `larder routes`.
///
/// They are those of the OpenAPI document, which a test compares with the route table, and where a setting
/// decides, those of the setting.
struct RouteAccess {
  /// The methods of the document by path, with parameters in the document's form.
  private let paths: [String: JSONValue]
  private let settings: Settings

  /// - Parameter template: the OpenAPI document without the operations' paths.
  init(_ settings: Settings, template: JSONValue) {
    self.settings = settings
    paths = Dictionary(
      (template["paths"]?.members ?? []).map { ($0.name, $0.value) },
      uniquingKeysWith: { first, _ in first })
  }

  /// - Parameter line: of the service's own.
  func text(of line: RouteLine) -> String {
    let path = line.pattern.description.replacing("{key*}", with: "{key}")
    if let text = Self.decidedElsewhere(path) ?? decidedBySetting("\(line.method.name) \(path)") {
      return text
    }
    guard let method = paths[path]?[line.method.name.lowercased()],
      let security = method["security"]?.array
    else { return Self.open }
    let text = Self.text(of: security)
    return path.hasPrefix("/v1/files/") && text == Self.open ? "by bucket" : text
  }

  private static let open = "anyone"

  /// The routes whose callers have credentials that are no security scheme of the document, and those where
  /// each operation has its own rule.
  private static func decidedElsewhere(_ path: String) -> String? {
    if path == "/s3" || path.hasPrefix("/s3/") { return "S3 key" }
    if path.hasPrefix("/v1/hooks/") { return "webhook secret" }
    if path.hasPrefix("/v1/operations/") || path == "/v1/graphql" { return "by operation" }
    return nil
  }

  private func decidedBySetting(_ route: String) -> String? {
    switch route {
    case "POST /v1/devices":
      settings.devices.register == .open ? Self.open : settings.devices.register.rawValue
    case "POST /v1/auth/sign-up":
      settings.accounts.signUp == .open ? Self.open : settings.accounts.signUp.rawValue
    case "GET /metrics":
      settings.metrics.token != nil
        ? "metrics token or admin"
        : settings.metrics.access == .open ? Self.open : settings.metrics.access.rawValue
    default: nil
    }
  }

  /// The words for the schemes of the document. The console's session and a stream ticket stand for other
  /// credentials.
  private static let words = [
    "bearer": "user", "device": "device", "admin": "admin", "viewer": "viewer",
  ]

  /// - Parameter security: security requirements (OpenAPI 3.1 section 4.8.30), one of which a caller meets.
  private static func text(of security: [JSONValue]) -> String {
    let all = security.map { requirement in
      Set((requirement.members ?? []).compactMap { words[$0.name] })
    }
    // No requirement at all, or one that every caller meets.
    guard !security.contains(where: { $0.members?.isEmpty != false }), !all.isEmpty else {
      return open
    }
    var texts: [String] = []
    for one in all where !one.isEmpty {
      // What another requirement is a part of demands more than that one.
      guard !all.contains(where: { !$0.isEmpty && $0.isStrictSubset(of: one) }) else { continue }
      let text = one.sorted().joined(separator: " and ")
      if !texts.contains(text) { texts.append(text) }
    }
    return texts.joined(separator: " or ")
  }
}
