import LosslessJSON
import Synchronization
import TestSupport
import Testing

/// A connection that writes, replaces, uploads in parts, copies and deletes objects of its own until the
/// service ends.
struct FileLoad {
  static let writers = 4
  private static let keysPerWriter = 4

  let port: Int
  let writer: Int
  let owner: FileOwner
  let ledger: FileLedger
  var random: SeededGenerator

  mutating func run() {
    do {
      let client = try RawClient(port: port)
      while true { try takeTurn(client) }
    } catch {
      // The connection broke: the service has ended.
    }
  }

  private mutating func takeTurn(_ client: RawClient) throws {
    let key = randomKey()
    switch Int.random(in: 0..<12, using: &random) {
    case 0..<4: try put(key, client)
    case 4..<7: try upload(key, isLong: false, client)
    case 7: try upload(key, isLong: true, client)
    case 8, 9: try copy(to: key, client)
    default: try delete(key, client)
    }
  }

  private mutating func randomKey() -> String {
    "k\(writer)-\(Int.random(in: 0..<Self.keysPerWriter, using: &random))"
  }

  private func put(_ key: String, _ client: RawClient) throws {
    let version = ledger.newVersion(isLong: false)
    ledger.noteTried(key, version)
    let answer = try owner.ask(client, "PUT", key, content: version.parts[0])
    note("put", key, version, answer)
  }

  /// One upload in four is left incomplete, and one is aborted.
  private mutating func upload(_ key: String, isLong: Bool, _ client: RawClient) throws {
    let version = ledger.newVersion(isLong: isLong)
    let begun = try owner.ask(client, "POST", "\(key)/uploads")
    guard let id = try JSONValue(parsing: begun.body)["uploadId"]?.string else {
      return ledger.noteFault("uploads: \(begun.text)")
    }
    for (index, part) in version.parts.enumerated() {
      let target = "\(key)?uploadId=\(id)&partNumber=\(index + 1)"
      // Sometimes an existing object is replaced.
      if Bool.random(using: &random) {
        _ = try owner.ask(client, "PUT", target, content: Array(part.prefix(1000)))
      }
      let answer = try owner.ask(client, "PUT", target, content: part)
      guard answer.status == 200 else { return ledger.noteFault("part: \(answer.text)") }
      ledger.noteResponse("part")
    }
    switch Int.random(in: 0..<8, using: &random) {
    case 0, 1: break
    case 2:
      let answer = try owner.ask(client, "DELETE", "\(key)?uploadId=\(id)")
      guard answer.status == 204 else { return ledger.noteFault("abort: \(answer.text)") }
    default:
      ledger.noteTried(key, version)
      let answer = try owner.ask(client, "POST", "\(key)?uploadId=\(id)", json: "{}")
      note("complete", key, version, answer)
    }
  }

  private mutating func copy(to key: String, _ client: RawClient) throws {
    let source = randomKey()
    guard source != key, let version = ledger.state(of: source) else { return }
    ledger.noteTried(key, version)
    let answer = try owner.ask(
      client, "POST", "\(source)/copy", json: #"{"to":"\#(owner.id)/\#(key)"}"#)
    note("copy", key, version, answer)
  }

  private func delete(_ key: String, _ client: RawClient) throws {
    ledger.noteTried(key, nil)
    let answer = try owner.ask(client, "DELETE", key)
    note("delete", key, nil, answer)
  }

  private func note(
    _ kind: String, _ key: String, _ state: FileLedger.State, _ answer: RawResponse
  ) {
    guard (200..<300).contains(answer.status) else {
      return ledger.noteFault("\(kind) of \(key): \(answer.status) \(answer.text)")
    }
    ledger.noteResponse(kind, key, state)
  }
}

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

/// The content of an object after one write: its length alone identifies the version.
struct FileVersion: Hashable, Sendable {
  /// The first part of a long version: the minimum size of a part that is not the last.
  static let firstPartBytes = 5 << 20
  private static let shortBytes = 20_000

  let number: Int
  /// Whether it is uploaded in two parts.
  let isLong: Bool

  init(number: Int, isLong: Bool) {
    self.number = number
    self.isLong = isLong
  }

  /// The version of the content; nil for content of no version, or content that is incomplete.
  init?(of content: [UInt8]) {
    let isLong = content.count > Self.firstPartBytes
    self.init(
      number: content.count - Self.shortBytes - (isLong ? Self.firstPartBytes : 0), isLong: isLong)
    guard number > 0, content.allSatisfy({ $0 == filling }) else { return nil }
  }

  var parts: [[UInt8]] {
    let last = [UInt8](repeating: filling, count: Self.shortBytes + number)
    return isLong ? [[UInt8](repeating: filling, count: Self.firstPartBytes), last] : [last]
  }

  private var filling: UInt8 { UInt8(truncatingIfNeeded: number &* 37) }
}

/// A user with files in the bucket `mine`.
struct FileOwner: Sendable {
  let id: String
  private let token: String

  /// Signs a user up.
  init(_ client: RawClient) throws {
    let answer = try client.request(
      "POST", "/v1/auth/sign-up", headers: [("Content-Type", "application/json")],
      body: #"{"email":"ann@example.com","password":"correct horse battery staple"}"#)
    let body = try JSONValue(parsing: answer.body)
    id = try #require(body["userId"]?.string, "\(answer.text)")
    token = try #require(body["accessToken"]?.string, "\(answer.text)")
  }

  /// - Parameter target: a key of the owner's, and its suffix.
  func ask(
    _ client: RawClient, _ method: String, _ target: String, content: [UInt8] = [],
    json: String? = nil
  ) throws -> RawResponse {
    try ask(client, method, path: "/v1/files/mine/\(id)/\(target)", content: content, json: json)
  }

  func ask(
    _ client: RawClient, _ method: String, path: String, content: [UInt8] = [],
    json: String? = nil
  ) throws -> RawResponse {
    let body = json.map { Array($0.utf8) } ?? content
    let head = """
      \(method) \(path) HTTP/1.1
      Host: x
      Authorization: Bearer \(token)
      Content-Type: \(json == nil ? "text/plain" : "application/json")
      Content-Length: \(body.count)


      """.split(separator: "\n", omittingEmptySubsequences: false).joined(separator: "\r\n")
    try client.send(Array(head.utf8) + body)
    return try client.response(to: method)
  }
}
