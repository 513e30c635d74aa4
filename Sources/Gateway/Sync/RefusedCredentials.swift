import Synchronization

/// Devices whose queue waits for a credential, as far as this process knows, and the credentials
/// they have shown since: each is tried once.
final class RefusedCredentials: Sendable {
  /// Devices remembered. A device that is forgotten goes on with its next mutation's own command.
  private static let devicesMax = 10_000

  private let shown = Mutex<[String: Set<[UInt8]>]>([:])

  func note(_ device: String) {
    shown.withLock { shown in
      if shown.count >= Self.devicesMax { shown.removeAll() }
      if shown[device] == nil { shown[device] = [] }
    }
  }

  /// - Returns: whether this credential is worth a try.
  func takesAnother(_ digest: [UInt8], of device: String) -> Bool {
    shown.withLock { shown in
      guard shown[device] != nil else { return false }
      return shown[device]?.insert(digest).inserted ?? false
    }
  }
}
