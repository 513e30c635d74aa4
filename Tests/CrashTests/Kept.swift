import Synchronization
import TestSupport

/// The promises made to clients: responses that were reported as stored, and the reported effects of
/// mutations.
///
/// Guarded by one lock, since every connection of the load writes to it.
final class Promises: Sendable {
  /// The caller and the target of a read.
  struct Read: Hashable, Sendable {
    let target: String
    var token: String?

    var headers: [(String, String)] { token.map { [("Authorization", "Bearer \($0)")] } ?? [] }
  }

  /// The state of a film that is changed: each change writes the same mark to several fields.
  struct Change: Sendable {
    /// The last acknowledged mark; nil if there is none yet.
    var mark: String?
    /// The marks of changes without a response.
    var unsettled: Set<String> = []
  }

  private struct State {
    var answers: [Read: [UInt8]] = [:]
    /// Reads without a response: the store can hold results that no client got.
    var unanswered: Set<Read> = []
    var changes: [String: Change] = [:]
    var deleted: Set<String> = []
    var unsettledDeletions: Set<String> = []
  }

  private let state = Mutex(State())

  var answers: [Read: [UInt8]] {
    state.withLock { state in state.answers.filter { !state.unanswered.contains($0.key) } }
  }
  var changes: [String: Change] { state.withLock { $0.changes } }
  var deleted: Set<String> { state.withLock { $0.deleted.subtracting($0.unsettledDeletions) } }
  var count: Int { state.withLock { $0.answers.count + $0.changes.count + $0.deleted.count } }

  func noteSent(_ read: Read) {
    state.withLock { _ = $0.unanswered.insert(read) }
  }

  /// - Parameter body: nil if the response was not reported as stored, so that an earlier one stays.
  func noteResponse(_ read: Read, _ body: [UInt8]?) {
    state.withLock { state in
      state.unanswered.remove(read)
      if let body { state.answers[read] = body }
    }
  }

  func noteSent(mark: String, film: String) {
    state.withLock { _ = $0.changes[film, default: Change()].unsettled.insert(mark) }
  }

  func noteSettled(mark: String, film: String) {
    state.withLock { $0.changes[film] = Change(mark: mark) }
  }

  func noteDeletion(of film: String, isSettled: Bool) {
    state.withLock { state in
      state.deleted.insert(film)
      if isSettled {
        state.unsettledDeletions.remove(film)
      } else {
        state.unsettledDeletions.insert(film)
      }
    }
  }
}
