import Logging
package import Model
package import Storage

/// How many held mutations do not fit the operations in force, and which fit again.
package struct OperationSurvey: Sendable {
  /// Mutations of one operation that cannot be sent.
  package struct Misfits: Sendable {
    package let operation: String
    package internal(set) var count: Int
    /// Of the first of them.
    package let detail: String
  }

  private var misfitsByOperation: [String: Misfits] = [:]
  private var resumed: [String: Int] = [:]
  private(set) var review = OperationReview()

  package init() {}

  /// By operation, in alphabetical order.
  package var misfits: [Misfits] {
    misfitsByOperation.values.sorted { $0.operation < $1.operation }
  }

  package mutating func note(
    _ held: HeldPayload, fit: OperationFit, known: [TemporaryID: EntityKey] = [:]
  ) {
    do throws(OperationFit.Misfit) {
      try fit.check(held, known: known)
      guard held.isParked else { return }
      resumed[held.operation, default: 0] += 1
      review.fitting.append(held.id)
    } catch {
      misfitsByOperation[
        held.operation,
        default: Misfits(operation: held.operation, count: 0, detail: error.detail)
      ].count += 1
      if !held.isParked { review.misfits[held.id] = error.problem }
    }
  }

  /// Adds the counts of other devices; what is to be done about theirs is theirs.
  mutating func add(_ other: OperationSurvey) {
    for misfits in other.misfits {
      misfitsByOperation[
        misfits.operation,
        default: Misfits(operation: misfits.operation, count: 0, detail: misfits.detail)
      ].count += misfits.count
    }
    resumed.merge(other.resumed, uniquingKeysWith: +)
  }

  /// One line a start for what waits, and one for what goes on.
  func report(to logger: Logger) {
    if !misfits.isEmpty {
      logger.warning(
        "queued mutations are parked: their operations are gone or no longer take their variables",
        metadata: [
          "count": "\(misfits.reduce(0) { $0 + $1.count })",
          "operations": "\(Self.text(misfits.map { ($0.operation, $0.count) }))",
          "example": "\(misfits.first?.detail ?? "")",
          "remedy": "deploy operations that fit, or discard the mutations",
        ])
    }
    if !resumed.isEmpty {
      logger.notice(
        "parked mutations go on: their operations are back",
        metadata: [
          "operations":
            "\(Self.text(resumed.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }))"
        ])
    }
  }

  private static func text(_ counts: [(operation: String, count: Int)]) -> String {
    counts.map { "\($0.operation)=\($0.count)" }.joined(separator: ", ")
  }
}
