package import HTTPClient
import LosslessJSON
package import Model
import Synchronization

/// The keys of an issuer that publishes them (RFC 7517), fetched when needed and cached.
package final class RemoteKeys: KeySource {
  /// The location of the keys.
  package enum Place: Sendable {
    case keySet(HTTPURL)
    /// The issuer's metadata has the location (OpenID Connect Discovery section 4).
    case discovery(issuer: String)
  }

  private struct State {
    var ages = KeySetAges()
    var set = KeySet(keys: [])
    /// The request in flight.
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

  /// Fetches the keys now, whatever is cached, to check that it works.
  ///
  /// - Returns: the number of keys.
  package func probe() async throws(TokenFault) -> Int {
    if let cause = await begin(at: clock.now()).value { throw .keysUnavailable(cause: cause) }
    return state.withLock { $0.set.keys.count }
  }

  private func fetched(
    id: String?, algorithm: TokenAlgorithm, at now: Timestamp
  ) async throws(TokenFault) -> VerificationKey {
    try result(await begin(at: now).value, id: id, algorithm: algorithm)
  }

  /// Joins the request in flight, or returns the last one's result.
  private func joined(
    id: String?, algorithm: TokenAlgorithm, at now: Timestamp
  ) async throws(TokenFault) -> VerificationKey {
    let flight = state.withLock { $0.flight }
    _ = await flight?.value
    let (isUsable, fault) = state.withLock { ($0.ages.isUsable(at: now), $0.ages.fault) }
    return try result(
      isUsable ? fault : fault ?? "they were fetched a moment ago", id: id,
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

  /// - Returns: the request in flight, a new one if there is none; its value is the reason of a
  ///   failure.
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

/// Why an issuer's keys could not be fetched, worded for operators.
struct KeyFetchFault: Error, Sendable {
  let text: String
}

/// Fetches an issuer's keys, through its metadata if needed.
struct KeyFetch {
  private static let metadataPath = ".well-known/openid-configuration"

  let exchange: JSONExchange

  func keys(at place: RemoteKeys.Place) async throws(KeyFetchFault) -> KeySet {
    switch place {
    case .keySet(let url): try await keys(url)
    case .discovery(let issuer): try await keys(try await keySetURL(of: issuer))
    }
  }

  /// The metadata must name this issuer (OpenID Connect Discovery section 4.3).
  private func keySetURL(of issuer: String) async throws(KeyFetchFault) -> HTTPURL {
    let base = issuer.hasSuffix("/") ? issuer : "\(issuer)/"
    let metadata = try await ask(try url(base + Self.metadataPath))
    guard metadata["issuer"]?.string == issuer else {
      throw KeyFetchFault(text: "the metadata does not name the issuer \(issuer)")
    }
    guard let text = metadata["jwks_uri"]?.string else {
      throw KeyFetchFault(text: "the metadata has no jwks_uri")
    }
    let url = try url(text)
    let isSecure = url.origin.scheme == .https
    guard isSecure || !issuer.lowercased().hasPrefix("https:") else {
      throw KeyFetchFault(text: "the https issuer's jwks_uri is an http URL")
    }
    return url
  }

  private func keys(_ url: HTTPURL) async throws(KeyFetchFault) -> KeySet {
    guard let entries = try await ask(url)["keys"]?.array else {
      throw KeyFetchFault(text: "the response is not a key set")
    }
    var keys: [VerificationKey] = []
    for entry in entries.prefix(KeySet.keysMax) {
      if let key = VerificationKey.read(entry) { keys.append(key) }
    }
    // An empty set is an error, so that the previous keys remain in use.
    guard !keys.isEmpty else { throw KeyFetchFault(text: "the key set contains no usable key") }
    return KeySet(keys: keys)
  }

  private func ask(_ url: HTTPURL) async throws(KeyFetchFault) -> JSONValue {
    let response: JSONExchange.Response
    do throws(HTTPClientError) {
      response = try await exchange.get(url)
    } catch {
      throw KeyFetchFault(text: "\(error)")
    }
    guard response.status == 200, let body = response.body else {
      throw KeyFetchFault(text: "\(url.target) responded with status \(response.status)")
    }
    return body
  }

  private func url(_ text: String) throws(KeyFetchFault) -> HTTPURL {
    do throws(HTTPURL.Fault) {
      return try HTTPURL(text)
    } catch {
      throw KeyFetchFault(text: "\(text) is not an HTTP URL")
    }
  }
}
