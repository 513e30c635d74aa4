/// The kinds of GraphQL server with specific support.
package enum Dialect: String, Hashable, Sendable, CaseIterable {
  case plain
  case hasura
  case appsync
}

/// The conventions of one kind of GraphQL server: how the service authenticates.
///
/// Servers also differ in where they put error codes, but those places do not collide and are all
/// read: Hasura's refusals are recognised even with the plain setting.
protocol UpstreamDialect: Sendable {
  /// The header with the service's secret.
  func credential(_ secret: String) -> UpstreamConfiguration.Header

  /// Whether a caller's header must not be sent with the service's secret, because it would name on
  /// whose behalf the service's rights are used.
  func isAuthority(_ headerName: String) -> Bool
}

extension UpstreamDialect {
  func isAuthority(_ headerName: String) -> Bool { false }
}

extension Dialect {
  var implementation: any UpstreamDialect {
    switch self {
    case .plain: PlainDialect()
    case .hasura: HasuraDialect()
    case .appsync: AppSyncDialect()
    }
  }
}

/// Other servers.
struct PlainDialect: UpstreamDialect {
  func credential(_ secret: String) -> UpstreamConfiguration.Header {
    UpstreamConfiguration.Header("authorization", "Bearer \(secret)")
  }
}

/// Hasura 2.
struct HasuraDialect: UpstreamDialect {
  func credential(_ secret: String) -> UpstreamConfiguration.Header {
    UpstreamConfiguration.Header("x-hasura-admin-secret", secret)
  }

  /// With the secret, session variables name the role and user to act as.
  func isAuthority(_ headerName: String) -> Bool {
    headerName.lowercased().hasPrefix("x-hasura-")
  }
}

/// AWS AppSync with an API key.
struct AppSyncDialect: UpstreamDialect {
  func credential(_ secret: String) -> UpstreamConfiguration.Header {
    UpstreamConfiguration.Header("x-api-key", secret)
  }
}
