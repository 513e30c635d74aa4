import LosslessJSON
import Synchronization
import TestSupport
import Testing

/// A phone that enqueues mutations of all modes until the service ends.
///
/// Each phone has films of its own, so that the order of the mutations of one film is this phone's order.
struct QueueLoad {
  static let phones = 4
  static let filmsPerPhone = 4

  let port: Int
  let phone: Int
  let token: String
  /// Distinguishes the keys and marks of one round from those of another.
  let round: Int
  let enqueued: EnqueuedMutations
  var random: SeededGenerator

  static func film(_ place: Int, of phone: Int) -> String {
    "f\(1 + phone * filmsPerPhone + place)"
  }

  static func headers(_ phone: Int, token: String) -> [(String, String)] {
    [
      ("Device-Token", token), ("Authorization", "Bearer user-phone\(phone)"),
      ("Content-Type", "application/json"),
    ]
  }

  mutating func run() {
    guard let client = try? RawClient(port: port) else { return }
    var step = 0
    do {
      while true {
        step += 1
        try enqueue(step, client)
      }
    } catch {
      // The connection broke: the service has ended.
    }
  }

  private mutating func enqueue(_ step: Int, _ client: RawClient) throws {
    let film = Self.film(Int.random(in: 0..<Self.filmsPerPhone, using: &random), of: phone)
    // A forced mutation waits for upstream, and its phone sends nothing else in the meantime.
    let mode = ["lazy", "lazy", "lazy", "steady", "steady", "steady", "steady", "force"][
      Int.random(in: 0..<8, using: &random)]
    let change =
      Bool.random(using: &random)
      ? #""RateFilm","variables":{"id":"\#(film)","stars":\#(1 + step % 5)}"#
      : #""UpdateFilm","variables":{"id":"\#(film)","patch":{"title":"\#(round)-\#(step)"}}"#
    let body = #"{"mode":"\#(mode)","operation":\#(change)}"#
    let key = "\(round)-\(phone)-\(step)"
    try enqueued.enqueue(
      EnqueuedMutations.Mutation(device: phone, key: key, body: body), mode: mode,
      headers: Self.headers(phone, token: token), client)
  }
}

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
