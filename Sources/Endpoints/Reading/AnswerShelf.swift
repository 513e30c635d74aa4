import Gateway
import HTTPServer
import HTTPWire
import Model
import Synchronization

/// Fresh answers by the bytes of the requests they answered, given on the connection's own loop:
/// no routing, no variables, no hop.
///
/// An entry is trusted only while its rendered answer is current. The cursor is read before that is
/// asked: a commit drops what it touches before it moves the head, so an answer that is current
/// afterwards is right at that cursor.
final class AnswerShelf: Sendable {
  /// Distinct (target, credential) pairs; past this the shelf is cleared and fills anew.
  private static let entriesMax = 20_000

  private let cursors: CursorMint
  /// Field names that make a request one for the router: credentials and partitions beside
  /// `Authorization`, and `Origin` where CORS is on.
  private let excluded: [String]
  private let entries = Mutex<[Int: ShelvedAnswer]>([:])

  init(cursors: CursorMint, forwardedNames: [String], hasCORS: Bool) {
    self.cursors = cursors
    excluded = forwardedNames.filter { $0 != "authorization" } + (hasCORS ? ["origin"] : [])
  }

  func keep(_ answer: ShelvedAnswer) {
    let hash = Self.hash(answer.target[...], answer.authorization[...])
    entries.withLock { entries in
      if entries.count >= Self.entriesMax { entries.removeAll(keepingCapacity: true) }
      entries[hash] = answer
    }
  }

  /// The answer to a request if it can be given as it stands.
  func find(_ head: borrowing RequestHead) -> ShelvedAnswer? {
    guard isPlain(head) else { return nil }
    let authorization = head["authorization"]
    let hash = Self.hash(head.target, authorization ?? [])
    guard let entry = entries.withLock({ $0[hash] }),
      entry.isFor(target: head.target, authorization: authorization)
    else { return nil }
    guard entry.rendered.isCurrent else {
      entries.withLock { if $0[hash] === entry { $0[hash] = nil } }
      return nil
    }
    return entry
  }

  /// Writes the response to a request that ``find(_:)`` found.
  ///
  /// The loop's clock has seconds; the age that decides is rounded up, so that nothing is given as
  /// fresh that is not.
  ///
  /// - Returns: false, with nothing written, if the answer is not fresh any more.
  func write(
    _ entry: ShelvedAnswer, for head: borrowing RequestHead, stamp: ResponseStamp,
    to output: inout [UInt8]
  ) -> Bool {
    let cursor = entry.isAnonymous ? cursors.anonymousCursor() : cursors.cursor(for: entry.viewer)
    guard entry.rendered.isCurrent else { return false }
    let now = stamp.secondsSince1970 &* 1000
    let age = max(0, now - entry.receivedMilliseconds) / 1000
    let ttlMilliseconds = entry.staleAtMilliseconds - max(entry.receivedMilliseconds, now + 999)
    guard ttlMilliseconds > 0 else { return false }
    entry.rendered.touch()
    let representation = Self.representation(of: entry, for: head)
    let isUnchanged = Self.holds(representation, head["if-none-match"])
    output.append(isUnchanged ? "HTTP/1.1 304 Not Modified\r\n" : "HTTP/1.1 200 OK\r\n")
    stamp.appendDate(to: &output)
    stamp.appendRequestID(for: head, to: &output)
    output.append(
      contentsOf: isUnchanged ? representation.notModifiedFields : representation.fields)
    output.append(decimal: Int(age))
    output.append("\r\nCache-Status: larder; hit; ttl=")
    output.append(decimal: Int(ttlMilliseconds / 1000))
    output.append("\r\nSync-Cursor: ")
    output.append(contentsOf: cursor)
    output.append("\r\n\r\n")
    if !isUnchanged, head.method == .get { output.append(contentsOf: representation.body) }
    return true
  }

  /// A request whose answer depends on nothing but target and `Authorization`.
  private func isPlain(_ head: borrowing RequestHead) -> Bool {
    guard head.method == .get || head.method == .head, head.keepsAlive, !head.hasBody,
      !head.fields.contains("cache-control"), !head.fields.contains("device-token"),
      !head.fields.contains("if-match")
    else { return false }
    for name in excluded where head.contains(name) { return false }
    return true
  }

  private static func representation(
    of entry: ShelvedAnswer, for head: borrowing RequestHead
  ) -> ShelvedRepresentation {
    guard let gzip = entry.gzip, let accepted = head["accept-encoding"],
      AcceptEncoding(accepted).preferred == .gzip
    else { return entry.identity }
    return gzip
  }

  /// Whether the request holds this representation already. The one tag that nearly every client
  /// sends is compared as bytes; a list takes the long way.
  private static func holds(
    _ representation: ShelvedRepresentation, _ condition: ArraySlice<UInt8>?
  ) -> Bool {
    guard let condition else { return false }
    if condition.equals(representation.entityTag) { return true }
    let current = EntityTag(parsing: String(decoding: representation.entityTag, as: UTF8.self))
    return EntityTagList(condition)?.weaklyContains(current) ?? false
  }

  private static func hash(
    _ target: ArraySlice<UInt8>, _ authorization: ArraySlice<UInt8>
  ) -> Int {
    var hasher = Hasher()
    target.withUnsafeBytes { hasher.combine(bytes: $0) }
    authorization.withUnsafeBytes { hasher.combine(bytes: $0) }
    return hasher.finalize()
  }
}
