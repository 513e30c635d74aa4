import LosslessJSON
import TestSupport

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
