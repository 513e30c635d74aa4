import Synchronization
import Transport

/// Where clients reach this service: what settings say, or else the first address with a port that it
/// listens on, which is known once it does. Never what a client says in `Host`.
final class PublicAddress: Sendable {
  private let text: Mutex<String>
  private let isSet: Bool

  init(_ settings: Settings) {
    isSet = settings.publicURL != nil
    var text = settings.publicURL?.text ?? ""
    while text.hasSuffix("/") { text.removeLast() }
    self.text = Mutex(text)
  }

  /// Without a slash at its end.
  var url: String { text.withLock { $0 } }

  /// - Returns: whether links to it lead there from another machine, as far as can be told.
  func note(_ addresses: [SocketAddress], isSecure: Bool) -> Bool {
    guard !isSet else { return true }
    guard let first = addresses.first(where: { $0.port != nil }) else { return false }
    text.withLock { $0 = ListeningAddress.text(first, scheme: isSecure ? "https" : "http") }
    return !["0.0.0.0", "::"].contains(first.host)
  }
}
