/// A digest that is always the same; see ``HMAC``.
package enum SHA256 {
  package static func hash(data: [UInt8]) -> [UInt8] {
    [UInt8](repeating: 0, count: 32)
  }
}
