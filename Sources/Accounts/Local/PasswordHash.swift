import Model

/// A stored password hash with its cost and salt, as `$scrypt$ln=15,r=8,p=3$<salt>$<key>` (the PHC
/// string format, with base64url).
struct PasswordHash: Hashable, Sendable {
  static let saltByteCount = 16
  static let keyByteCount = 32

  let cost: ScryptCost
  let salt: [UInt8]
  let key: [UInt8]

  init(cost: ScryptCost, salt: [UInt8], key: [UInt8]) {
    self.cost = cost
    self.salt = salt
    self.key = key
  }

  init?(_ text: String) {
    let parts = text.split(separator: "$", omittingEmptySubsequences: false)
    guard parts.count == 5, parts[0].isEmpty, parts[1] == "scrypt",
      let cost = Self.cost(of: text), let salt = Base64URL.decode(String(parts[3])),
      let key = Base64URL.decode(String(parts[4])), salt.count >= Self.saltByteCount,
      key.count >= Self.keyByteCount
    else { return nil }
    self.init(cost: cost, salt: salt, key: key)
  }

  var text: String {
    "$scrypt$ln=\(cost.exponent),r=\(cost.blockFactor),p=\(cost.parallel)"
      + "$\(Base64URL.encode(salt))$\(Base64URL.encode(key))"
  }

  /// The cost in a hash's text, or in the part before its salt.
  static func cost(of text: String) -> ScryptCost? {
    let parts = text.split(separator: "$", omittingEmptySubsequences: false)
    guard parts.count > 2, parts[0].isEmpty, parts[1] == "scrypt" else { return nil }
    let values = parts[2].split(separator: ",").map { $0.split(separator: "=") }
    guard values.map(\.first) == ["ln", "r", "p"], values.allSatisfy({ $0.count == 2 }) else {
      return nil
    }
    let numbers = values.compactMap { Int($0[1]) }
    guard numbers.count == 3 else { return nil }
    return ScryptCost(exponent: numbers[0], blockFactor: numbers[1], parallel: numbers[2])
  }
}
