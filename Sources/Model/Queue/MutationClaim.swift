/// Names one attempt: what ends it counts only while the mutation is still in flight under the same
/// start of the server and the same number.
package struct MutationClaim: Hashable, Sendable {
  package let id: MutationID
  /// Random for each start of the server.
  package let boot: String
  package let number: Int

  package init(id: MutationID, boot: String, number: Int) {
    self.id = id
    self.boot = boot
    self.number = number
  }
}
