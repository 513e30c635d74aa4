package import Model

/// Writes to entities, each by whoever may: own data by its owner, what upstream gave by the
/// operator.
package struct EntityWrites: Sendable {
  /// Operations in one list.
  package static let operationsMax = 1_000

  private let own: OwnDataWrites
  private let corrections: CorrectionService

  package init(own: OwnDataWrites, corrections: CorrectionService) {
    self.own = own
    self.corrections = corrections
  }

  /// - Throws: for more operations than a list may hold.
  package static func checkCount(_ count: Int) throws(Failure) {
    guard count <= operationsMax else {
      throw Failure(.malformedRequest, "A list holds at most \(operationsMax) operations.")
    }
  }

  /// Does all of it or nothing.
  ///
  /// - Parameter misread: faults of operations that could not be read. With any, nothing is done,
  ///   and they are told together with those of the requests.
  /// - Returns: an answer for each write, in their order.
  package func write(
    _ requests: [EntityWriteRequest], misread: [Failure.Detail] = [], by caller: Caller
  ) async throws(Failure) -> [EntityWriteOutcome] {
    try Self.checkCount(requests.count)
    let ofOwn = requests.filter { own.knows($0.type) }
    if ofOwn.count == requests.count {
      return try await own.write(requests, misread: misread, by: caller)
    }
    guard ofOwn.isEmpty else {
      throw Failure(
        .malformedRequest,
        "A list writes local types or upstream's, not both: they belong to different people.",
        details: misread)
    }
    return try await corrections.write(requests, misread: misread, by: caller)
  }
}
