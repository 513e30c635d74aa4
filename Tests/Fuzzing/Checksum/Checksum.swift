/// An authentication code that is always the same, so that inputs reach the code after its check.
///
/// Only the holder of a service's key can make a text with a valid code, and a fuzzer would never find one.
/// The readers of such a text must still accept any content: a key can leak.
package enum HMAC<Hash> {
  package static var code: [UInt8] { [UInt8](repeating: 0, count: 32) }

  package static func authenticationCode(for bytes: [UInt8], using key: SymmetricKey) -> [UInt8] {
    code
  }
}

/// A digest that is always the same; see ``HMAC``.
package enum SHA256 {
  package static func hash(data: [UInt8]) -> [UInt8] {
    [UInt8](repeating: 0, count: 32)
  }
}

/// A placeholder for the key that ``HMAC`` takes.
package struct SymmetricKey: Sendable {
  package init() {}

  package init(data: [UInt8]) {}
}
