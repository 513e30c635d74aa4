/// Everything in the store that time alone takes away.
///
/// A new kind is a case here: ``ExpiryPass`` must say what it does at the trusted time, and the tests
/// walk over all cases with a clock that jumps.
package enum Expiry: String, CaseIterable, Sendable {
  /// Cached responses, entities that nothing refers to, and tombstones.
  case cache
  case devices
  case sessions
  /// Ended mutations with their idempotency keys, and temporary ids.
  case mutations
  case notifications
}
