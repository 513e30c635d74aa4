import Model

/// The selections of one operation, made on demand for each combination of its conditions.
final class SelectionPlans: Sendable {
  func selection(for variables: Variables) -> Model.Selection {
    preconditionFailure("being written")
  }
}
