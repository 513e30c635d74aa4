import Model

/// A source of an issuer's keys: this service's database, or the issuer over the network.
protocol KeySource: Sendable {
  /// - Parameter id: the id that the token names; nil if it names none, which is valid only with a
  ///   single key.
  func key(
    id: String?, algorithm: TokenAlgorithm
  ) async throws(TokenFault) -> VerificationKey

  /// Whether a key of this id is known without a network request.
  func knows(keyID: String) -> Bool
}

/// The keys of one issuer at one time.
struct KeySet: Sendable {
  /// Maximum keys of one issuer; more than any rotation needs.
  static let keysMax = 100

  let keys: [VerificationKey]

  /// The key for verifying a token; nil if there is none with that id.
  ///
  /// - Throws: ``TokenFault/wrongAlgorithm`` if the key is for another algorithm.
  func key(id: String?, algorithm: TokenAlgorithm) throws(TokenFault) -> VerificationKey? {
    guard let id else {
      let fitting = keys.filter { $0.algorithm == algorithm }
      return fitting.count == 1 ? fitting.first : nil
    }
    let named = keys.filter { $0.id == id }
    guard !named.isEmpty else { return nil }
    guard let key = named.first(where: { $0.algorithm == algorithm }) else {
      throw .wrongAlgorithm
    }
    return key
  }

  func knows(keyID: String) -> Bool { keys.contains { $0.id == keyID } }
}

/// Decides when an issuer's keys are fetched, as a pure function.
///
/// Known keys are used, and renewed in the background once an hour. An unknown id may be that of a
/// new key, so the keys are fetched, but at most once in half a minute, or in some seconds after a
/// failure: made-up ids must not flood the issuer.
struct KeySetAges: Sendable {
  enum Step: Hashable, Sendable {
    case use
    /// The cached keys are usable but due for renewal.
    case useAndRenew
    case fetch
    /// The keys were fetched a moment ago, without result.
    case refuse
  }

  static let freshFor = Duration.seconds(3_600)
  /// The age from which keys are not used at all: a key withdrawn by the issuer must end some time,
  /// even during an outage of the issuer.
  static let usableFor = Duration.seconds(86_400)
  static let attemptsApart = Duration.seconds(30)
  /// The interval after a failure, so that a client told to retry after this time is not refused
  /// again.
  static let failuresApart = Duration.seconds(5)

  private(set) var fetched: Timestamp?
  private(set) var attempted: Timestamp?
  /// Why the last attempt failed; nil if it succeeded.
  private(set) var fault: String?

  mutating func began(at now: Timestamp) { attempted = now }

  mutating func succeeded(at now: Timestamp) {
    fetched = now
    fault = nil
  }

  mutating func failed(_ fault: String) { self.fault = fault }

  /// Whether cached keys can still be used.
  func isUsable(at now: Timestamp) -> Bool {
    fetched.map { $0.elapsed(until: now) < Self.usableFor } ?? false
  }

  func step(isKnown: Bool, at now: Timestamp) -> Step {
    let age = fetched.map { $0.elapsed(until: now) }
    let apart = fault == nil ? Self.attemptsApart : Self.failuresApart
    let mayAsk = attempted.map { $0.elapsed(until: now) >= apart || now < $0 } ?? true
    if isKnown, let age, isUsable(at: now) {
      return age >= Self.freshFor && mayAsk ? .useAndRenew : .use
    }
    return mayAsk ? .fetch : .refuse
  }
}
