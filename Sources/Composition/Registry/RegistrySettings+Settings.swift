import Model
import Upstream

extension RegistrySettings {
  /// The registry's part of the service's settings.
  init(_ settings: Settings) {
    self.init(
      keys: settings.types.compactMapValues { $0.key.isEmpty ? nil : $0.key },
      indexes: settings.types.compactMapValues { $0.index.isEmpty ? nil : $0.index },
      search: settings.types.compactMapValues { $0.search.isEmpty ? nil : $0.search },
      cache: CachePolicy(
        maxAge: settings.cache.maxAge,
        staleWhileRevalidate: settings.cache.staleWhileRevalidate,
        staleIfError: settings.cache.staleIfError),
      hasServiceCredentials: settings.upstream.hasServiceCredentials,
      forwardedHeaders: settings.upstream.forward)
  }
}

extension UpstreamConfiguration {
  /// - Parameter url: the upstream's URL, which the caller has made sure is set.
  init(_ settings: Settings, url: String) {
    self.init(
      url: url,
      dialect: Dialect(settings.upstream.dialect),
      headers: settings.upstream.headers.sorted { $0.key < $1.key }
        .map { Header($0.key, $0.value.revealed) },
      secret: settings.upstream.secret?.revealed,
      timeout: settings.upstream.timeout,
      responseDepthMax: settings.upstream.responseDepthMax)
  }
}

extension Dialect {
  fileprivate init(_ dialect: UpstreamSettings.Dialect) {
    self =
      switch dialect {
      case .plain: .plain
      case .hasura: .hasura
      case .appsync: .appsync
      }
  }
}
