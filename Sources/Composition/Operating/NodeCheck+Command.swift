import Gateway
import HTTPClient
import Model
import Transport

extension NodeCheck {
  private static let answersWithin = Duration.seconds(3)

  /// The check of a command, with a connection of its own to each node; nil without the secret.
  static func command(_ settings: Settings, cluster: String?) -> NodeCheck? {
    guard let secret = settings.cluster.secret?.revealed, !secret.isEmpty else { return nil }
    let ping = NodePing(
      NodeSignature(secret: Array(secret.utf8)), asker: "command", clock: SystemClock.wall,
      random: RandomBytes { UInt8.random(in: 0...UInt8.max) })
    return NodeCheck(ping: ping, cluster: cluster) { request throws(HTTPClientError) in
      let address: ServiceAddress
      do throws(StartFailure) {
        address = try ServiceAddress(settings, given: "\(request.url.origin)")
      } catch {
        throw .invalidRequest(error.description)
      }
      return try await address.send(request, within: answersWithin)
    }
  }
}
