import Model

/// Collects what is wrong with a list of writes, so that its client is told all of it at once: what
/// of the list could not be read, then what no entity may be.
struct ListRefusal {
  private var misread: [Failure.Detail]
  private var first: Failure?

  init(misread: [Failure.Detail]) {
    self.misread = misread
  }

  /// - Throws: a failure that names no places: it is not about what the operation says.
  mutating func note(_ failure: Failure) throws(Failure) {
    guard !failure.details.isEmpty else { throw failure }
    first = first ?? failure
    misread += failure.details
  }

  /// - Parameter faults: those of values.
  func check(with faults: [Failure.Detail]) throws(Failure) {
    guard misread.isEmpty else {
      throw Failure(
        .malformedRequest, first?.message ?? "The operations cannot be read.",
        details: misread + faults)
    }
    guard faults.isEmpty else {
      throw Failure(.invalidEntity, "The entity cannot be written.", details: faults)
    }
  }
}
