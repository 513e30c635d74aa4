import LosslessJSON
import Model
import Storage

extension EntityRenderer {
  /// Returns the outcomes of a list of writes, or throws the reason that nothing was written.
  func outcomes(
    _ result: Result<WriteCommit, WriteRefusal>
  ) throws(Failure) -> [EntityWriteOutcome] {
    switch result {
    case .success(let commit):
      if let known = commit.replay { return try WriteOutcomesCodec.decode(known) }
      var outcomes: [EntityWriteOutcome] = []
      for outcome in commit.outcomes { outcomes.append(try rendered(outcome)) }
      return outcomes
    case .failure(let refusal):
      throw Failure(refusal)
    }
  }
}

extension Failure {
  init(writing error: StorageError, deadline: QueryDeadline) {
    if error == .tooCostly {
      self.init(
        .tooCostly,
        "The writes took too long and were stopped; the limit for a filter is \(deadline.limit). "
          + "Write fewer entities at a time.", retry: .never)
      return
    }
    self =
      Failure(querying: error, "The request", deadline: deadline)
      ?? Failure(
        .storageUnavailable, "The store cannot be written; retry later.", retry: .after,
        cause: "\(error)")
  }

  /// The failure for a refused list of writes.
  init(_ refusal: WriteRefusal) {
    func place(_ pointer: String, _ detail: String) -> [Detail] {
      pointer.isEmpty ? [] : [Detail(place: .pointer(pointer), detail: detail)]
    }
    switch refusal {
    case .exists(let key, let pointer):
      self.init(
        .entityExists, "\(key) already exists.", details: place(pointer, "already exists"))
    case .missing(let key, let pointer):
      self.init(.notFound, "There is no \(key).", details: place(pointer, "does not exist"))
    case .changed(let key, let pointer):
      self.init(
        .preconditionFailed, "\(key) does not match the request's condition.",
        details: place(pointer, "does not match the condition"))
    case .denied(let key, let field, let pointer):
      self.init(
        .stillReferenced,
        "\(key) cannot be deleted while its \(field) refers to other entities.",
        details: place(pointer, "still has \(field)"))
    case .notUnique(let violations):
      let values = violations.map { violation in
        "\(violation.key) would have the same \(violation.fields.joined(separator: " and ")) as "
          + "\(violation.holder)"
      }
      self.init(
        .notUnique, values.joined(separator: "; ") + ".",
        details: violations.flatMap { violation in
          violation.fields.map { field in
            let others = violation.fields.filter { $0 != field }
            let with = others.isEmpty ? "" : ", together with \(others.joined(separator: " and "))"
            return Detail(
              place: .pointer((violation.pointer ?? "").appending(pointerMember: field)),
              detail: "is already that of \(violation.holder)\(with)")
          }
        })
    case .invalid(let faults):
      self.init(.invalidEntity, "The entity is invalid.", details: faults)
    case .keyReused:
      self.init(
        .idempotencyKeyReused,
        "The Idempotency-Key was used for another write, or by another caller.", retry: .newKey)
    case .ownerRemoved:
      self.init(.unauthenticated, "The device was removed; nothing was written.")
    case .unreviewed:
      self.init(
        .internal, "The write was not shown to hooks.", cause: "a write with hooks has no reviewer")
    case .overQuota(let excess):
      self.init(.ownDataFull, excess.message)
    case .tooMany(let max, let pointer):
      self.init(
        .tooCostly, "The filter matches more than \(max) entities: write them in parts.",
        details: place(pointer, "matches too many entities"))
    }
  }
}

extension DataQuota.Excess {
  /// The error message for the client.
  var message: String {
    switch self {
    case .owner(let bytesMax):
      "The storage quota of this device or user, \(bytesMax) bytes (devices.bytes), is used up:"
        + " delete rows, or wait until finished mutations are removed."
    case .unbound(let bytesMax):
      "The storage quota shared by devices without a user, \(bytesMax) bytes"
        + " (devices.unboundBytes), is used up: sign in or delete rows."
    }
  }
}

/// Collects the faults of a list of writes, so that all are reported at once: first the operations
/// that could not be parsed, then the values that are invalid.
struct ListRefusal {
  private var misread: [Failure.Detail]
  private var first: Failure?

  init(misread: [Failure.Detail]) {
    self.misread = misread
  }

  /// Adds a failure of an operation.
  ///
  /// - Throws: a failure without details, since it is not about the operation's contents.
  mutating func note(_ failure: Failure) throws(Failure) {
    guard !failure.details.isEmpty else { throw failure }
    first = first ?? failure
    misread += failure.details
  }

  /// Throws if there is any fault.
  ///
  /// - Parameter faults: the faults of values.
  func check(with faults: [Failure.Detail]) throws(Failure) {
    guard misread.isEmpty else {
      throw Failure(
        .malformedRequest, first?.message ?? "The operations are malformed.",
        details: misread + faults)
    }
    guard faults.isEmpty else {
      throw Failure(.invalidEntity, "The entity is invalid.", details: faults)
    }
  }
}

extension EntityType.Column.Kind {
  /// Returns whether the column accepts a value that is not null.
  func takes(_ value: JSONValue) -> Bool {
    switch self {
    case .integer: value.int64 != nil
    case .real: value.number?.double?.isFinite == true
    case .boolean: value.bool != nil
    case .text: value.string != nil
    case .reference: false
    }
  }

  /// The column's kind in words, for error messages.
  var noun: String {
    switch self {
    case .integer: "a whole number"
    case .real: "a number"
    case .boolean: "true or false"
    case .text: "a string"
    case .reference: "an id"
    }
  }
}
