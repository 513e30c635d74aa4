import LosslessJSON

/// A part of the service that settings can switch off, with all of its routes.
package enum ServicePart: String, CaseIterable, Sendable {
  case accounts
  /// Includes the sync queue: each device has one.
  case devices
  case files
  case push
  /// The S3 dialect for the same files.
  case s3

  package static let all = Set(ServicePart.allCases)

  /// The paths of the part: each of these, and everything below it.
  private var paths: [String] {
    switch self {
    case .accounts:
      ["/v1/auth", "/.well-known/jwks.json", "/v1/admin/users", "/v1/admin/signing-keys"]
    case .devices:
      ["/v1/devices", "/v1/mutations", "/v1/queue", "/v1/admin/devices", "/v1/admin/queues"]
    case .files: ["/v1/files"]
    case .push: ["/v1/push", "/v1/admin/push"]
    case .s3: ["/s3", "/v1/admin/s3"]
    }
  }

  /// The part that a path belongs to; nil for a path that is always served.
  ///
  /// - Parameter path: a pattern of the route table, or a path of the OpenAPI document.
  package static func owning(_ path: String) -> ServicePart? {
    allCases.first { part in
      part.paths.contains { path == $0 || path.hasPrefix("\($0)/") }
    }
  }
}

extension Set<ServicePart> {
  /// Whether a path is served when these parts are on.
  func serve(_ path: String) -> Bool {
    ServicePart.owning(path).map(contains) ?? true
  }

  /// Removes the paths of other parts from an OpenAPI document.
  func filter(openAPI document: JSONValue) -> JSONValue {
    guard self != ServicePart.all, let paths = document["paths"]?.members else { return document }
    var document = document
    document["paths"] = .object(paths.filter { serve($0.name) })
    return document
  }
}
