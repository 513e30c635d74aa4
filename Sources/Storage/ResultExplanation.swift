package import Model

/// What the store knows about one result: for `explain`, not for serving.
package struct ResultExplanation: Sendable, Hashable {
  /// One reason to refetch before the next answer.
  package enum Due: Sendable, Hashable {
    /// The last answer had errors.
    case errors
    /// An invalidation or a purge after the answer was asked for.
    case target(InvalidationTarget, call: CallNumber)
    /// The first page of a list this result shows a later page of has changed.
    case firstPage(family: String, call: CallNumber)
  }

  package let key: ResultKey
  package let call: CallNumber
  package let received: Timestamp
  package let bytes: Int
  package let types: [String]
  package let tags: [String]
  package let due: [Due]
}
