import Foundation
import Model
import Upstream

extension RegistrySettings {
  /// The registry's part of the service's settings, for the operations of one upstream.
  init(_ settings: Settings, _ upstream: NamedUpstream, describesInterface: Bool = false) {
    self.init(
      keys: settings.types.compactMapValues { $0.key.isEmpty ? nil : $0.key },
      indexes: settings.types.compactMapValues { $0.index.isEmpty ? nil : $0.index },
      search: settings.types.compactMapValues { $0.search.isEmpty ? nil : $0.search },
      cache: CachePolicy(
        maxAge: settings.cache.maxAge,
        staleWhileRevalidate: settings.cache.staleWhileRevalidate,
        staleIfError: settings.cache.staleIfError),
      hasServiceCredentials: upstream.settings.hasServiceCredentials,
      forwardedHeaders: upstream.settings.forward,
      upstream: upstream.name,
      section: upstream.section,
      storedTypes: StoredTypeNames(upstream.settings.types.compactMapValues(\.storedName)),
      sharedTypes: Set(upstream.settings.types.filter(\.value.isShared).keys),
      sharesPublicData: !settings.dividesPublicData(of: upstream.name),
      // Webhooks bring any field of upstream's types, and local fields have other names than all of them.
      keepsOutline: !settings.hooks.isEmpty
        || FileManager.default.fileExists(atPath: settings.localFile),
      describesInterface: describesInterface)
  }
}

extension UpstreamConfiguration {
  init(_ upstream: NamedUpstream) {
    let settings = upstream.settings
    self.init(
      name: upstream.name,
      url: settings.url?.text ?? "",
      dialect: Dialect(settings.dialect),
      headers: settings.headers.sorted { $0.key < $1.key }
        .map { Header($0.key, $0.value.revealed) },
      secret: settings.secret?.revealed,
      timeout: settings.timeout,
      documents: settings.persisted == .apq ? .hash : .text,
      subscriptions: SubscriptionChoice(settings.subscriptions),
      webSocketURL: settings.websocketURL?.http,
      responseDepthMax: settings.responseDepthMax)
  }
}

extension SubscriptionChoice {
  fileprivate init(_ choice: UpstreamSettings.Subscriptions) {
    self =
      switch choice {
      case .auto: .automatic
      case .transportWS: .transportWS
      case .legacyWS: .legacyWS
      case .sse: .eventStream
      case .off: .off
      }
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
