import Synchronization
import TestSupport

/// What clients were promised: the answers that were said to be stored, and what mutations were
/// said to have done.
///
/// Guards its maps with one lock, since every connection of the load writes to it.
final class Kept: Sendable {
  /// Who asks for what.
  struct Read: Hashable, Sendable {
    let target: String
    var token: String?

    var headers: [(String, String)] { token.map { [("Authorization", "Bearer \($0)")] } ?? [] }
  }

  /// What became of a film that is changed: each change writes the same mark to several fields.
  struct Change: Sendable {
    /// The last mark that was answered; nil for none yet.
    var mark: String?
    /// Marks of changes that were sent and not answered.
    var unsettled: Set<String> = []
  }

  private struct State {
    var answers: [Read: [UInt8]] = [:]
    /// Reads that were sent and not answered: the store may hold what nobody was told.
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

  /// - Parameter body: nil if the answer was not said to be stored, so that an earlier one stays.
  func noteAnswered(_ read: Read, _ body: [UInt8]?) {
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
