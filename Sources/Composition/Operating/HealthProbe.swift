import HTTPClient
import HTTPTypes
import Model

/// The `health` command: checks whether the service with the same settings is alive.
package struct HealthProbe {
  /// A health check without a response in this time has failed.
  private static let timeout = Duration.seconds(3)

  private let settings: Settings
  private let url: String?

  /// - Parameter url: of the service; nil for the address in the settings.
  package init(_ settings: Settings, url: String? = nil) {
    self.settings = settings
    self.url = url
  }

  /// - Returns: a line for a person; a health check looks at the exit status alone.
  /// - Throws: the reason why the service is not alive.
  package func run() async throws(StartFailure) -> String {
    let address = try ServiceAddress(settings, given: url)
    let path = "\(address.url)/healthz"
    guard let target = try? HTTPURL(path) else {
      throw StartFailure(.usage, "The address \(address) is not valid. Set another with --url.")
    }
    let response: HTTPClientResponse
    do throws(HTTPClientError) {
      response = try await address.send(
        HTTPClientRequest(method: .get, url: target), within: Self.timeout)
    } catch {
      let failure = address.failure(error)
      // A health check has one status for everything that is not healthy.
      throw StartFailure(.failed, failure.description)
    }
    guard response.status == .ok else {
      throw StartFailure(
        .failed,
        "\(address)/healthz has status \(response.status.code). Is this a Larder? Set its address with "
          + "`listen` or --url.")
    }
    return "The service at \(address) is alive."
  }
}
