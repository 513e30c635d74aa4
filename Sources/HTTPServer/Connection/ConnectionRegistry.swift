import Synchronization
import Transport

/// Counts the connections of all loops, for the connection limits and for shutdown.
///
/// Every connection is registered; a connection that is served also takes one of the limited places.
final class ConnectionRegistry: Sendable {
  private struct State {
    var total = 0
    var placesTaken = 0
    /// Evicted connections that have not closed yet.
    var evicted = 0
    var byAddress: [SocketAddress: Int] = [:]
  }

  private let connectionsMax: Int
  private let perAddressMax: Int?
  private let isExempt: @Sendable (SocketAddress) -> Bool
  private let state = Mutex(State())
  /// Notified when the last connection has left.
  private let emptied = AsyncSignal()

  /// - Parameter isExempt: whether many clients share an address, such as a proxy's.
  init(
    connectionsMax: Int, perAddressMax: Int?,
    exempting isExempt: @escaping @Sendable (SocketAddress) -> Bool
  ) {
    self.connectionsMax = connectionsMax
    self.perAddressMax = perAddressMax
    self.isExempt = isExempt
  }

  var total: Int { state.withLock { $0.total } }

  /// Connections that wait for a place, or are being refused.
  var placeless: Int { state.withLock { $0.total - $0.placesTaken - $0.evicted } }

  /// Registers a connection. Returns false if its address is over the limit, so that it must be
  /// refused.
  func enter(_ address: SocketAddress) -> Bool {
    let isCounted = isCounted(address)
    return state.withLock { state in
      state.total += 1
      guard let perAddressMax, isCounted else { return true }
      let count = state.byAddress[address.with(port: 0), default: 0] + 1
      state.byAddress[address.with(port: 0)] = count
      return count <= perAddressMax
    }
  }

  /// Takes a place for a registered connection. Returns false if none is left.
  func takePlace() -> Bool {
    state.withLock { state in
      guard state.placesTaken < connectionsMax else { return false }
      state.placesTaken += 1
      return true
    }
  }

  func leavePlace() {
    state.withLock { $0.placesTaken -= 1 }
  }

  /// Releases the place of an evicted connection, which stays registered until ``evictionEnded()``.
  func evictionBegan() {
    state.withLock { state in
      state.placesTaken -= 1
      state.evicted += 1
    }
  }

  func evictionEnded() {
    state.withLock { $0.evicted -= 1 }
  }

  /// Removes a registered connection.
  func leave(_ address: SocketAddress) {
    let isCounted = isCounted(address)
    state.withLock { state in
      state.total -= 1
      if isCounted {
        let count = state.byAddress[address.with(port: 0), default: 1]
        state.byAddress[address.with(port: 0)] = count > 1 ? count - 1 : nil
      }
      // With the lock held, so that it is true when the signal comes.
      if state.total == 0 { emptied.notify() }
    }
  }

  private func isCounted(_ address: SocketAddress) -> Bool {
    perAddressMax != nil && !isExempt(address)
  }

  /// Waits until there is no connection, also in a cancelled task: a service that is cancelled resets
  /// its connections, and has not ended before they have closed.
  func waitUntilEmpty() async {
    let seen = state.withLock { $0.total > 0 ? emptied.count : nil }
    guard let seen else { return }
    await emptied.wait(after: seen, ignoresCancellation: true)
  }
}
