import Synchronization

/// Brings a refusal out of a command that is undone.
final class ThrownRefusal<Refusal: Error & Sendable>: Sendable {
  let refusal = Mutex<Refusal?>(nil)
}
