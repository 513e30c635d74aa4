import Synchronization

/// Devices whose queue waits for a credential, and those that upstream refused since: one that was
/// refused is not tried again.
final class RefusedCredentials: Sendable {
  /// Digests of the credentials that upstream refused.
  typealias Digests = Set<[UInt8]>

  /// Devices remembered. One that is forgotten is noted again by its next mutation, and at a start.
  static let devicesMax = 10_000
  /// Digests kept of one device; with another in its stead a refused one is tried once more.
  static let digestsMax = 16

  private let refused = Mutex<[String: Digests]>([:])

  /// - Parameter digest: of the credential that upstream refused; nil where it is not known.
  func note(_ device: String, refused digest: [UInt8]? = nil) {
    putBack(digest.map { [$0] } ?? [], of: device)
  }

  func isWaiting(_ device: String) -> Bool {
    refused.withLock { $0[device] != nil }
  }

  /// Takes the device out: its queue is about to go on with this credential.
  ///
  /// - Returns: what is to be put back where it does not; nil where the device does not wait, or
  ///   upstream refused this very credential.
  func takeOut(_ device: String, for digest: [UInt8]) -> Digests? {
    refused.withLock { refused in
      guard let digests = refused[device], !digests.contains(digest) else { return nil }
      return refused.removeValue(forKey: device)
    }
  }

  func putBack(_ digests: Digests, of device: String) {
    refused.withLock { refused in
      if refused[device] == nil, refused.count >= Self.devicesMax, let other = refused.keys.first {
        refused[other] = nil
      }
      var all = refused[device] ?? []
      for digest in digests where !all.contains(digest) {
        if all.count >= Self.digestsMax, let other = all.first { all.remove(other) }
        all.insert(digest)
      }
      refused[device] = all
    }
  }
}
