import Model

/// A mutation's place in the order of calls from before its request leaves until its effects are
/// stored.
package struct MutationStart: Sendable {
  /// In flight until ``CallSequence/end(_:)``.
  let number: CallNumber
  /// The number of the first attempt; ``number`` unless the request is repeated.
  let origin: CallNumber
  /// The store's head at the first attempt.
  let head: Revision
  let isRepeated: Bool
  /// False for one that was first sent before the process began: then nobody knows what it overlapped.
  let isOriginKnown: Bool
}
