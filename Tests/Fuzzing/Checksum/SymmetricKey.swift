/// A key that is none: ``HMAC`` asks for one.
package struct SymmetricKey: Sendable {
  package init() {}

  package init(data: [UInt8]) {}
}
