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

  /// Says that a name is an interface, and which types are written instead; nil if there is no local
  /// interface of that name.
  package func refusal(ofInterface name: String) -> String? { own.refusal(ofInterface: name) }

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
    let abstract = interfaceFaults(in: requests)
    guard abstract.isEmpty else {
      throw Failure(
        .malformedRequest, "The operations name interfaces.",
        details: misread + abstract)
    }
    let local = requests.filter(own.takes)
    if local.count == requests.count {
      return try await own.write(requests, misread: misread, by: caller, key: key)
    }
    guard local.isEmpty else {
      throw Failure(
        .malformedRequest,
        "A list can write local types and fields, or upstream types, not both: they have different "
          + "owners.",
        details: misread)
    }
    return try await corrections.write(requests, misread: misread, by: caller, key: key)
  }

  private func interfaceFaults(in requests: [EntityWriteRequest]) -> [Failure.Detail] {
    requests.compactMap { request in
      own.refusal(ofInterface: request.type).map {
        Failure.Detail(
          place: .pointer("\(request.origin)/type"), detail: "\(request.type) \($0)")
      }
    }
  }
}
