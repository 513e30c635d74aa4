import Model
import Synchronization

/// The devices that asked lately, by the digest of their token.
///
/// Every change of a device goes through ``DeviceRegistry``, which drops it here after the store has
/// taken the change. A look-up that was under way then may hold what the change replaced, so what
/// it found is kept only where nothing has been dropped since it began.
final class DeviceCache: Sendable {
  /// Past this all go, and fill anew: a device is one row by an index.
  private static let devicesMax = 10_000

  private struct State {
    var devices: [String: Device] = [:]
    var droppings = 0
  }

  private let state = Mutex(State())

  func device(tokenDigest: String) -> Device? {
    state.withLock { $0.devices[tokenDigest] }
  }

  /// To be taken before the store is asked.
  var droppings: Int { state.withLock { $0.droppings } }

  func keep(_ device: Device, tokenDigest: String, asOf droppings: Int) {
    state.withLock { state in
      guard state.droppings == droppings else { return }
      if state.devices.count >= Self.devicesMax {
        state.devices.removeAll(keepingCapacity: true)
      }
      state.devices[tokenDigest] = device
    }
  }

  func drop(tokenDigest: String) {
    state.withLock { state in
      state.droppings += 1
      state.devices[tokenDigest] = nil
    }
  }

  func dropAll() {
    state.withLock { state in
      state.droppings += 1
      state.devices.removeAll(keepingCapacity: true)
    }
  }

  /// Notes a use of a device.
  ///
  /// - Returns: whether the use is so much later than the one noted before that the store should
  ///   know; only the first to ask is told so.
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
