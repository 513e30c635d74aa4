/// The habits of one kind of GraphQL server: how the service proves itself to it.
///
/// Where servers put the codes of their errors differs too, but those places do not collide and
/// are all looked at: a Hasura behind a plain setting still says who it refuses.
protocol UpstreamDialect: Sendable {
  /// The header that carries the service's secret.
  func credential(_ secret: String) -> UpstreamSettings.Header

  /// Whether a caller's header must not go together with the service's secret, because it would
  /// say on whose behalf the service's rights are used.
  func isAuthority(_ headerName: String) -> Bool
}

extension UpstreamDialect {
  func isAuthority(_ headerName: String) -> Bool { false }
}

extension Dialect {
  var habits: any UpstreamDialect {
    switch self {
    case .plain: PlainDialect()
    case .hasura: HasuraDialect()
    case .appsync: AppSyncDialect()
    }
  }
}

/// Servers of no particular kind.
struct PlainDialect: UpstreamDialect {
  func credential(_ secret: String) -> UpstreamSettings.Header {
    UpstreamSettings.Header("authorization", "Bearer \(secret)")
  }
}

/// Hasura 2.
struct HasuraDialect: UpstreamDialect {
  func credential(_ secret: String) -> UpstreamSettings.Header {
    UpstreamSettings.Header("x-hasura-admin-secret", secret)
  }

  /// With the secret, session variables name the role and the user to act as.
  func isAuthority(_ headerName: String) -> Bool {
    headerName.lowercased().hasPrefix("x-hasura-")
  }
}

/// AWS AppSync with an API key.
struct AppSyncDialect: UpstreamDialect {
  func credential(_ secret: String) -> UpstreamSettings.Header {
    UpstreamSettings.Header("x-api-key", secret)
  }
}
