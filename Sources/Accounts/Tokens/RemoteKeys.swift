package import HTTPClient
import LosslessJSON
package import Model
import Synchronization

/// The keys of an issuer that publishes them (RFC 7517), fetched when needed and kept.
package final class RemoteKeys: KeySource {
  /// Where to ask.
  package enum Place: Sendable {
    case keySet(HTTPURL)
    /// The issuer's metadata says where (OpenID Connect Discovery section 4).
    case discovery(issuer: String)
  }

  private struct State {
    var ages = KeySetAges()
    var set = KeySet(keys: [])
    /// The one request under way.
    var flight: Task<String?, Never>?
  }

  private let place: Place
  private let exchange: JSONExchange
  private let clock: WallClock
  private let state = Mutex(State())

  package init(at place: Place, exchange: JSONExchange, clock: WallClock) {
    self.place = place
    self.exchange = exchange
    self.clock = clock
  }

  func knows(keyID: String) -> Bool { state.withLock { $0.set.knows(keyID: keyID) } }

  func key(
    id: String?, algorithm: TokenAlgorithm
  ) async throws(TokenFault) -> VerificationKey {
    let now = clock.now()
    let (ages, set) = state.withLock { ($0.ages, $0.set) }
    let found = try set.key(id: id, algorithm: algorithm)
    switch ages.step(isKnown: found != nil, at: now) {
    case .use: break
    case .useAndRenew: _ = begin(at: now)
    case .fetch: return try await fetched(id: id, algorithm: algorithm, at: now)
    case .refuse: return try await joined(id: id, algorithm: algorithm, at: now)
    }
    guard let found else { throw .unknownKey }
    return found
  }

  /// Asks now, whatever is known: for those who want to see that it works.
  ///
  /// - Returns: how many keys there are.
  package func probe() async throws(TokenFault) -> Int {
    if let cause = await begin(at: clock.now()).value { throw .keysUnavailable(cause: cause) }
    return state.withLock { $0.set.keys.count }
  }

  private func fetched(
    id: String?, algorithm: TokenAlgorithm, at now: Timestamp
  ) async throws(TokenFault) -> VerificationKey {
    try result(await begin(at: now).value, id: id, algorithm: algorithm)
  }

  /// Whoever comes while the answer is awaited awaits it too; later ones are told what it was.
  private func joined(
    id: String?, algorithm: TokenAlgorithm, at now: Timestamp
  ) async throws(TokenFault) -> VerificationKey {
    let flight = state.withLock { $0.flight }
    _ = await flight?.value
    let (isUsable, fault) = state.withLock { ($0.ages.isUsable(at: now), $0.ages.fault) }
    return try result(
      isUsable ? fault : fault ?? "they were asked for a moment ago", id: id,
      algorithm: algorithm)
  }

  private func result(
    _ cause: String?, id: String?, algorithm: TokenAlgorithm
  ) throws(TokenFault) -> VerificationKey {
    let set = state.withLock { $0.set }
    if let key = try set.key(id: id, algorithm: algorithm), cause == nil { return key }
    if let cause { throw .keysUnavailable(cause: cause) }
    throw .unknownKey
  }

  // MARK: Fetching

  /// - Returns: the request under way, a new one where there is none; its value is why it failed.
  private func begin(at now: Timestamp) -> Task<String?, Never> {
    state.withLock { state in
      if let flight = state.flight { return flight }
      state.ages.began(at: now)
      let flight = Task { await self.renew() }
      state.flight = flight
      return flight
    }
  }

  private func renew() async -> String? {
    let found: Result<KeySet, KeyFetchFault>
    do throws(KeyFetchFault) {
      found = .success(try await KeyFetch(exchange: exchange).keys(at: place))
    } catch {
      found = .failure(error)
    }
    let now = clock.now()
    return state.withLock { state in
      state.flight = nil
      switch found {
      case .success(let set):
        state.set = set
        state.ages.succeeded(at: now)
      case .failure(let fault):
        state.ages.failed(fault.text)
      }
      return state.ages.fault
    }
  }
}
