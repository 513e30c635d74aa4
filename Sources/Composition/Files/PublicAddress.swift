import Synchronization
import Transport

/// Where clients reach this service: what settings say, or else the first address it listens on,
/// which is known once it does. Never what a client says in `Host`.
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

  func note(_ addresses: [SocketAddress], isSecure: Bool) {
    guard !isSet, let first = addresses.first else { return }
    text.withLock { $0 = ListeningAddress.text(first, scheme: isSecure ? "https" : "http") }
  }
}
