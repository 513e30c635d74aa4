import Model
import Synchronization

/// Cache of devices by the digest of their token.
///
/// Every change of a device goes through ``DeviceRegistry``, which removes the device here after
/// the store has committed the change. A look-up in progress at that time may return the old state,
/// so its result is kept only if nothing was removed since it began.
final class DeviceCache: Sendable {
  /// Beyond this number the cache is emptied: loading a device is one indexed row.
  private static let devicesMax = 10_000

  private struct State {
    var devices: [String: Device] = [:]
    /// The digests under which each device is known, by its id: one for each of its tokens in use.
    var digests: [String: Set<String>] = [:]
    var removals = 0
  }

  private let state = Mutex(State())

  func device(tokenDigest: String) -> Device? {
    state.withLock { $0.devices[tokenDigest] }
  }

  /// The number of removals so far; read it before querying the store.
  var removals: Int { state.withLock { $0.removals } }

  func keep(_ device: Device, tokenDigest: String, asOf removals: Int) {
    state.withLock { state in
      guard state.removals == removals else { return }
      if state.devices.count >= Self.devicesMax {
        state.devices.removeAll(keepingCapacity: true)
        state.digests.removeAll(keepingCapacity: true)
      }
      state.devices[tokenDigest] = device
      state.digests[device.id, default: []].insert(tokenDigest)
    }
  }

  /// Drops a device under all of its tokens.
  func drop(device id: String) {
    state.withLock { state in
      state.removals += 1
      for digest in state.digests.removeValue(forKey: id) ?? [] { state.devices[digest] = nil }
    }
  }

  /// - Returns: the digests of tokens that were known, each with the id of its device.
  @discardableResult
  func dropAll() -> [(digest: String, device: String)] {
    state.withLock { state in
      let known = state.digests.flatMap { device, digests in
        digests.map { (digest: $0, device: device) }
      }
      state.removals += 1
      state.devices.removeAll(keepingCapacity: true)
      state.digests.removeAll(keepingCapacity: true)
      return known
    }
  }

  /// Records a use of a device.
  ///
  /// - Returns: whether the store should record the use too, because the last recorded one is at
  ///   least `grain` older; true for one caller only.
  func note(
    useOf tokenDigest: String, at now: Timestamp, grain: Duration
  ) -> Bool {
    state.withLock { state in
      guard let device = state.devices[tokenDigest],
        device.lastUsed.elapsed(until: now) >= grain
      else { return false }
      state.devices[tokenDigest]?.lastUsed = now
      return true
    }
  }
}
