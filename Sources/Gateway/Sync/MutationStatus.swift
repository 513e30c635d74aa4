package import LosslessJSON
package import Model

/// What a client is told of a mutation that it handed over.
package struct MutationStatus: Sendable {
  package let id: MutationID
  /// As JSON.
  package let body: [UInt8]
  /// The key was known, and nothing was stored.
  package let isReplay: Bool
}

/// What came of a forced mutation.
package struct ForcedStatus: Sendable {
  package let answer: MutationStatus
  /// Upstream's answer in the form that a client of the operation reads.
  package let response: JSONValue?
  /// Why it was not done, for those who want nothing but the response; nil where it was.
  package let refusal: Failure?
}
