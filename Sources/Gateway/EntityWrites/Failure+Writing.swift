import Model
import Storage

extension EntityRenderer {
  /// What was done of a list of writes, or why nothing was.
  func answers(
    _ result: Result<WriteCommit, WriteRefusal>
  ) throws(Failure) -> [EntityWriteAnswer] {
    switch result {
    case .success(let commit):
      var answers: [EntityWriteAnswer] = []
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
        .tooCostly, "The filter ran longer than \(deadline.limit) and was stopped.",
        retry: .never)
    } else {
      self.init(
        .storageUnavailable, "The store takes no writes now.", retry: .after, cause: "\(error)")
    }
  }
}
