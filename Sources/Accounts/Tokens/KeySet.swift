/// The keys of one issuer at one time.
struct KeySet: Sendable {
  /// Of one issuer; more than any rotation needs.
  static let keysMax = 100

  let keys: [VerificationKey]

  /// The key that a token may be checked with; nil where there is none of that id.
  ///
  /// - Throws: ``TokenFault/wrongAlgorithm`` where the key is another algorithm's.
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
