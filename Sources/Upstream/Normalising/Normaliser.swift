package import Model

/// Takes upstream's answers apart for the store.
package enum Normaliser {
  package struct Outcome: Sendable {
    package let answer: NormalisedAnswer
    /// Objects of entity types that came with a null or missing key and are kept as embedded ones.
    package let keylessEntities: Int
  }

  /// - Parameter selection: what ``RegisteredOperation/selection(for:)`` gave for `variables`.
  package static func normalise(
    _ answer: UpstreamAnswer, of operation: RegisteredOperation, variables: Variables,
    selection: Model.Selection, context: AnswerContext
  ) -> Outcome {
    preconditionFailure("being written")
  }
}
