import Synchronization

/// What writers did to their objects, and what they were told of it.
final class FileLedger: Sendable {
  /// An object's content; nil where there is none.
  typealias State = FileVersion?

  private struct Entry {
    var settled: State = nil
    /// What it becomes by a request that has not been answered yet.
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
  /// How often each kind of request was answered.
  var answers: [String: Int] { book.withLock { $0.answers } }
  var answerCount: Int { book.withLock { $0.answers.values.reduce(0, +) } }

  func newVersion(isLong: Bool) -> FileVersion {
    book.withLock { book in
      book.versions += 1
      return FileVersion(number: book.versions, isLong: isLong)
    }
  }

  /// What an object holds, as its only writer knows it.
  func state(of key: String) -> State {
    book.withLock { $0.entries[key]?.settled ?? nil }
  }

  func noteTried(_ key: String, _ state: State) {
    book.withLock { $0.entries[key, default: Entry()].tried = .some(state) }
  }

  func noteAnswered(_ kind: String, _ key: String, _ state: State) {
    book.withLock { book in
      book.entries[key] = Entry(settled: state)
      book.answers[kind, default: 0] += 1
    }
  }

  func noteAnswered(_ kind: String) {
    book.withLock { $0.answers[kind, default: 0] += 1 }
  }

  func noteFault(_ fault: String) {
    book.withLock { $0.faults.append(fault) }
  }

  /// Takes what an object was found to hold after a kill.
  ///
  /// - Returns: whether it may: what was acknowledged, or what had been tried.
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
