import Model

extension NormalisedResponse {
  /// A mutation's response with its place in the order of calls. ``call`` is to be ended once the
  /// answer is stored.
  ///
  /// - Parameter key: see ``CallSequence/beginMutation(head:key:isRepeated:)``.
  func settled(
    _ start: MutationStart, by calls: CallSequence, key: String? = nil
  ) -> NormalisedResponse {
    let writes = Set(entities.map(\.key)).union(deletions)
    let place = calls.settle(start, in: scope, writes: writes, key: key)
    var settled = self
    settled.call = place.call
    settled.horizon = place.horizon
    settled.span = place.span
    return settled
  }
}
