import LosslessJSON
import Synchronization
import TestSupport
import Testing

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

/// Requests everything that was promised from a service whose upstream is unavailable.
struct PromiseCheck {
  let port: Int
  /// The seed and round, for messages: enough to run a failure again.
  let note: String

  /// Every response is the same as before, byte for byte.
  func answers(_ answers: [Promises.Read: [UInt8]]) async throws {
    let (port, note) = (port, note)
    try await onOwnThread {
      let client = try RawClient(port: port)
      for (read, expected) in answers {
        let answer = try client.request("GET", read.target, headers: read.headers)
        #expect(answer.status == 200, "\(note): \(read.target) \(answer.text)")
        #expect(answer.cacheStatus.hasPrefix("larder; hit"), "\(note): \(read.target)")
        #expect(
          answer.body == expected,
          "\(note): \(read.target): \(answer.text), not \(String(decoding: expected, as: UTF8.self))"
        )
      }
    }
  }

  /// An acknowledged change shows; one in progress shows whole or not at all.
  func changes(_ changes: [String: Promises.Change]) async throws {
    let (port, note) = (port, note)
    try await onOwnThread {
      let client = try RawClient(port: port)
      for (film, change) in changes {
        let answer = try client.request("GET", "/api/films/\(film)")
        #expect(answer.status == 200, "\(note): \(film) \(answer.text)")
        let shown = try JSONValue(parsing: answer.body)["data"]?["film"]
        let mark = shown?["synopsis"]?.string
        let possible = change.unsettled.union(change.mark.map { [$0] } ?? [])
        if change.mark != nil {
          #expect(possible.contains(mark ?? ""), "\(note): \(film) is \(mark ?? "gone")")
        }
        if let mark, possible.contains(mark) {
          #expect(shown?["tagline"]?.string == mark, "\(note): \(film) is half changed")
        }
      }
    }
  }

  /// Deleted films stay deleted.
  func deletions(_ films: Set<String>) async throws {
    let (port, note) = (port, note)
    try await onOwnThread {
      let client = try RawClient(port: port)
      for film in films {
        let answer = try client.request("GET", "/api/films/\(film)")
        let shown = try JSONValue(parsing: answer.body)["data"]?["film"] ?? .null
        #expect(shown.isNull, "\(note): \(film) is back: \(answer.text)")
      }
    }
  }
}
