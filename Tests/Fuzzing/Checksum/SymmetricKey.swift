/// A placeholder for the key that ``HMAC`` takes.
package struct SymmetricKey: Sendable {
  package init() {}

  package init(data: [UInt8]) {}
}
