import Filtering
package import Model

/// Writes to entities: own data by its owner, upstream data by the operator.
package struct EntityWrites: Sendable {
  /// The maximum number of operations in one list.
  static let operationsMax = 1_000

  private let own: OwnDataWrites
  private let corrections: CorrectionService

  package init(own: OwnDataWrites, corrections: CorrectionService) {
    self.own = own
    self.corrections = corrections
  }

  /// Throws if a list has too many operations.
  package static func checkCount(_ count: Int) throws(Failure) {
    guard count <= operationsMax else {
      throw Failure(.malformedRequest, "A list holds at most \(operationsMax) operations.")
    }
  }

  /// Returns whether entities of a type are written with an action; unknown types with any. Upstream's
  /// entities are never replaced: a correction says only what is wrong.
  package func accepts(_ action: WriteAction, of type: String) -> Bool {
    action != .replace || own.knows(type) || !corrections.knows(type)
  }

  /// Performs all writes or none.
  ///
  /// - Parameters:
  ///   - misread: faults of operations that could not be parsed. With any, nothing is written, and
  ///     they are reported together with those of the requests.
  ///   - key: the key under which the list is written at most once. Keys of corrections belong to the
  ///     operator.
  package func write(
    _ requests: [EntityWriteRequest], misread: [Failure.Detail] = [], by caller: Caller,
    key: EntityWriteKey? = nil
  ) async throws(Failure) -> EntityWriteAnswer {
    try Self.checkCount(requests.count)
    let local = requests.filter { own.knows($0.type) }
    if local.count == requests.count {
      return try await own.write(requests, misread: misread, by: caller, key: key)
    }
    guard local.isEmpty else {
      throw Failure(
        .malformedRequest,
        "A list can write local types or upstream types, not both: they have different owners.",
        details: misread)
    }
    return try await corrections.write(requests, misread: misread, by: caller, key: key)
  }
}
