import HTTPClient
import HTTPTypes
import Transport

/// The `health` command: checks whether the service with the same settings is alive.
package struct HealthProbe {
  /// A health check without a response in this time has failed.
  private static let timeout = Duration.seconds(3)

  private let settings: Settings

  package init(_ settings: Settings) {
    self.settings = settings
  }

  package func isHealthy() async -> Bool {
    guard let address = settings.listen.first else { return false }
    do {
      let group = try EventLoopGroup(count: 1)
      let client = HTTPClient(group: group, tls: nil, random: { 0.5 })
      let response = try await client.execute(
        HTTPClientRequest(method: .get, url: try HTTPURL(Self.url(of: address))),
        within: Self.timeout)
      await client.close()
      await group.shutdown()
      return response.status == .ok
    } catch {
      return false
    }
  }

  /// The URL of the health check; an address of all interfaces is reached over loopback.
  private static func url(of address: ListenAddress) -> String {
    switch address {
    case .unix(let path):
      let escaped = path.map { $0 == "/" ? "%2F" : String($0) }.joined()
      return "http+unix://\(escaped)/healthz"
    case .tcp(nil, let port), .tcp("0.0.0.0", let port):
      return "http://127.0.0.1:\(port)/healthz"
    case .tcp("::", let port):
      return "http://[::1]:\(port)/healthz"
    case .tcp:
      return "http://\(address)/healthz"
    }
  }
}
