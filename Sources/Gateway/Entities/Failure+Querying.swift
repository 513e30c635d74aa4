import Model
import Storage

extension Failure {
  /// Why a query of a caller's own making has no answer; nil where the store itself is at fault.
  ///
  /// - Parameter subject: what ran, as the subject of a sentence: "The query".
  init?(querying error: StorageError, _ subject: String, deadline: QueryDeadline) {
    switch error {
    case .tooCostly:
      self.init(
        .tooCostly, "\(subject) ran longer than \(deadline.limit) and was stopped.",
        retry: .never)
    case .overloaded:
      self.init(
        .overloaded, "Too many queries wait for the store: try again later.", retry: .after,
        retryAfter: .seconds(1))
    default:
      return nil
    }
  }
}
