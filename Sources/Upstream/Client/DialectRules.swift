import LosslessJSON

/// What servers of one kind do their own way.
protocol DialectRules: Sendable {
  /// The header that carries the service's secret.
  func credential(_ secret: String) -> UpstreamSettings.Header

  /// The code of a GraphQL error, where the server puts it.
  func code(of error: JSONNode) -> String?
}

extension DialectRules {
  /// What an error's code says about the caller, by the names the known servers use.
  func permission(code: String) -> PermissionProblem? {
    switch code {
    case "UNAUTHENTICATED", "invalid-jwt", "invalid-headers", "UnauthorizedException":
      .unauthenticated
    case "FORBIDDEN", "access-denied", "permission-error", "permission-denied", "Unauthorized":
      .forbidden
    default: nil
    }
  }
}

/// Servers of no particular kind: a bearer token, and codes under `extensions.code`.
struct PlainRules: DialectRules {
  func credential(_ secret: String) -> UpstreamSettings.Header {
    .init("Authorization", "Bearer \(secret)")
  }

  func code(of error: JSONNode) -> String? { error["extensions"]?["code"]?.string }
}

/// Hasura: the admin secret, and codes under `extensions.code`; every status is 200.
struct HasuraRules: DialectRules {
  func credential(_ secret: String) -> UpstreamSettings.Header {
    .init("x-hasura-admin-secret", secret)
  }

  func code(of error: JSONNode) -> String? { error["extensions"]?["code"]?.string }
}

/// AppSync: an API key, and `errorType` beside the message. A type may be qualified, as in
/// `com.amazonaws.deepdish.graphql.auth#UnauthorizedException`.
struct AppSyncRules: DialectRules {
  func credential(_ secret: String) -> UpstreamSettings.Header { .init("x-api-key", secret) }

  func code(of error: JSONNode) -> String? {
    error["errorType"]?.string?.split(separator: "#").last.map(String.init)
  }
}

extension Dialect {
  var rules: any DialectRules {
    switch self {
    case .plain: PlainRules()
    case .hasura: HasuraRules()
    case .appsync: AppSyncRules()
    }
  }
}
