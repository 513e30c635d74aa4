import Synchronization

/// The writers' requests for their objects, and the responses.
final class FileLedger: Sendable {
  /// An object's content; nil if there is no object.
  typealias State = FileVersion?

  private struct Entry {
    var settled: State = nil
    /// The state after the request that has no response yet.
    var tried: State?
  }

  private struct Book {
    var entries: [String: Entry] = [:]
    var answers: [String: Int] = [:]
    var versions = 0
    var faults: [String] = []
  }

  private let book = Mutex(Book())

  var faults: [String] { book.withLock { $0.faults } }
  var keys: [String] { book.withLock { $0.entries.keys.sorted() } }
  /// The number of responses to each kind of request.
  var answers: [String: Int] { book.withLock { $0.answers } }
  var answerCount: Int { book.withLock { $0.answers.values.reduce(0, +) } }

  func newVersion(isLong: Bool) -> FileVersion {
    book.withLock { book in
      book.versions += 1
      return FileVersion(number: book.versions, isLong: isLong)
    }
  }

  /// The content of an object, as its only writer knows it.
  func state(of key: String) -> State {
    book.withLock { $0.entries[key]?.settled ?? nil }
  }

  func noteTried(_ key: String, _ state: State) {
    book.withLock { $0.entries[key, default: Entry()].tried = .some(state) }
  }

  func noteResponse(_ kind: String, _ key: String, _ state: State) {
    book.withLock { book in
      book.entries[key] = Entry(settled: state)
      book.answers[kind, default: 0] += 1
    }
  }

  func noteResponse(_ kind: String) {
    book.withLock { $0.answers[kind, default: 0] += 1 }
  }

  func noteFault(_ fault: String) {
    book.withLock { $0.faults.append(fault) }
  }

  /// Takes the content that an object was found to have after a kill.
  ///
  /// - Returns: whether it is valid: the acknowledged one, or the one that had been tried.
  func take(_ found: State, of key: String) -> Bool {
    book.withLock { book in
      let entry = book.entries[key] ?? Entry()
      book.entries[key] = Entry(settled: found)
      if found == entry.settled { return true }
      if let tried = entry.tried { return found == tried }
      return false
    }
  }
}
