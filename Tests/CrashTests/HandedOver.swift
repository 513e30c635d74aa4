import LosslessJSON
import Synchronization
import TestSupport

/// The mutations that phones enqueued, and the responses they got.
final class EnqueuedMutations: Sendable {
  struct Mutation: Sendable {
    let device: Int
    let key: String
    let body: String
    /// The id in the response that accepted it; nil without one.
    var id: String?
  }

  private struct State {
    var mutations: [Mutation] = []
    var faults: [String] = []
  }

  private let state = Mutex(State())

  var faults: [String] { state.withLock { $0.faults } }
  var acknowledged: [Mutation] { state.withLock { $0.mutations.filter { $0.id != nil } } }
  var acknowledgedCount: Int { state.withLock { $0.mutations.count { $0.id != nil } } }

  /// Enqueues a mutation and records the response.
  ///
  /// - Throws: if the connection broke; then it is unknown whether the mutation was accepted.
  func enqueue(
    _ mutation: Mutation, mode: String, headers: [(String, String)], _ client: RawClient
  ) throws {
    let number = noteSent(mutation)
    let answer = try client.request(
      "POST", "/v1/mutations", headers: headers + [("Idempotency-Key", mutation.key)],
      body: mutation.body)
    switch answer.status {
    case 200, 202:
      guard let id = try JSONValue(parsing: answer.body)["id"]?.string else {
        return noteFault("\(mutation.key): \(answer.text)")
      }
      noteTaken(number, id: id)
    // Not sent in time, or sent without a response: a forced mutation can get both.
    case 503 where mode == "force", 504 where mode == "force": break
    default:
      noteFault("\(mutation.key) \(mutation.body): \(answer.status) \(answer.text)")
    }
  }

  /// - Returns: the mutation's number.
  private func noteSent(_ mutation: Mutation) -> Int {
    state.withLock { state in
      state.mutations.append(mutation)
      return state.mutations.count - 1
    }
  }

  private func noteTaken(_ number: Int, id: String) {
    state.withLock { $0.mutations[number].id = id }
  }

  private func noteFault(_ fault: String) {
    state.withLock { $0.faults.append(fault) }
  }
}
