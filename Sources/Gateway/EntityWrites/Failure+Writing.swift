import Model
import Storage

extension EntityRenderer {
  /// What was done of a list of writes, or why nothing was.
  func answers(
    _ result: Result<WriteCommit, WriteRefusal>
  ) throws(Failure) -> [EntityWriteOutcome] {
    switch result {
    case .success(let commit):
      var answers: [EntityWriteOutcome] = []
      for outcome in commit.outcomes { answers.append(try answer(outcome)) }
      return answers
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
        "The writes took too long and were stopped: a filter can take \(deadline.limit). Write fewer "
          + "entities at a time.", retry: .never)
      return
    }
    self =
      Failure(querying: error, "The request", deadline: deadline)
      ?? Failure(
        .storageUnavailable, "The store takes no writes now.", retry: .after, cause: "\(error)")
  }

  /// Why a list of writes was refused, in words for its client.
  init(_ refusal: WriteRefusal) {
    func place(_ pointer: String, _ detail: String) -> [Detail] {
      pointer.isEmpty ? [] : [Detail(place: .pointer(pointer), detail: detail)]
    }
    switch refusal {
    case .exists(let key, let pointer):
      self.init(
        .entityExists, "\(key) exists.", details: place(pointer, "exists"))
    case .missing(let key, let pointer):
      self.init(.notFound, "There is no \(key).", details: place(pointer, "is not there"))
    case .changed(let key, let pointer):
      self.init(
        .preconditionFailed, "\(key) is not what the request's condition says.",
        details: place(pointer, "is another"))
    case .denied(let key, let field, let pointer):
      self.init(
        .stillReferenced, "\(key) is not deleted while its \(field) leads to others.",
        details: place(pointer, "has \(field)"))
    case .invalid(let faults):
      self.init(.invalidEntity, "The entity cannot be written.", details: faults)
    case .overQuota(let excess):
      self.init(.ownDataFull, excess.message)
    case .tooMany(let max, let pointer):
      self.init(
        .tooCostly, "The filter holds of more than \(max) entities: write them in parts.",
        details: place(pointer, "holds of too many"))
    }
  }
}
