/// What comes of a request whose idempotency key the device has used before.
package enum KeyReuse: Hashable, Sendable {
  /// The same request: answer with the mutation's present state. A forced one in flight is joined.
  case replay
  /// Another payload under the key.
  case conflict
  /// The same forced request, which no longer goes ahead: see
  /// ``DeviceQueue/arming(_:known:at:policy:)``.
  case arm
}
