/// The random id of a mutation (`m_…`): its name in the API, and the `Idempotency-Key` upstream
/// gets, which is why it must never be guessable or made from the client's key.
package struct MutationID: Hashable, Sendable {
  package let value: String

  package init(_ value: String) {
    self.value = value
  }
}

extension MutationID: CustomStringConvertible {
  package var description: String { value }
}
