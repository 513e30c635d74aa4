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
    /// Addresses of nodes of this cluster: one has signed a request on a connection from it. Each is kept until the
    /// last connection from it has closed.
    var nodes: Set<SocketAddress> = []
    /// Addresses at which the other nodes say they are.
    var advertised: Set<SocketAddress> = []
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
  ///
  /// Connections are counted whether or not the address is exempt, which can change while they are open.
  func enter(_ address: SocketAddress) -> Bool {
    let isWithinLimit = state.withLock { state in
      state.total += 1
      guard let perAddressMax else { return true }
      let host = address.with(port: 0)
      let count = state.byAddress[host, default: 0] + 1
      state.byAddress[host] = count
      return count <= perAddressMax || state.nodes.contains(host)
        || state.advertised.contains(host)
    }
    return isWithinLimit || isExempt(address)
  }

  /// Notes that a registered connection is that of another node of the cluster, which forwards the requests of many
  /// clients. The limit per address does not apply to its address while connections from it are open.
  func noteNode(_ address: SocketAddress) {
    guard perAddressMax != nil else { return }
    state.withLock { _ = $0.nodes.insert(address.with(port: 0)) }
  }

  /// Replaces the addresses at which the other nodes of the cluster are, to which the limit per address does not
  /// apply: a node that has just got to know this one as its leader opens many connections at once.
  func note(advertised addresses: [SocketAddress]) {
    let hosts = Set(addresses.map { $0.with(port: 0) })
    state.withLock { $0.advertised = hosts }
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
    state.withLock { state in
      state.total -= 1
      if perAddressMax != nil {
        let host = address.with(port: 0)
        let count = state.byAddress[host, default: 1]
        state.byAddress[host] = count > 1 ? count - 1 : nil
        if count <= 1 { state.nodes.remove(host) }
      }
      // With the lock held, so that it is true when the signal comes.
      if state.total == 0 { emptied.notify() }
    }
  }

  /// Waits until there is no connection, also in a cancelled task: a service that is cancelled resets
  /// its connections, and has not ended before they have closed.
  func waitUntilEmpty() async {
    let seen = state.withLock { $0.total > 0 ? emptied.count : nil }
    guard let seen else { return }
    await emptied.wait(after: seen, ignoresCancellation: true)
  }
}
