import LosslessJSON
import TestSupport
import Testing

/// A client of `/v1/changes` that keeps a copy of all data, and every cursor it has had.
struct ChangeReader {
  /// A cursor, with the client's copy at that time.
  struct Place: Sendable {
    let cursor: String
    let held: [String: [UInt8]]
  }

  enum Problem: Error {
    case refused(Int, String)
  }

  /// The filter for the marks that ``WriteLoad`` makes.
  static let marked = "&types=Film&filter=synopsis%20LIKE%20%3F&arg=mark%25"

  let port: Int
  /// The parameters besides the cursor, each after its `&`.
  let query: String
  let headers: [(String, String)]
  private(set) var cursor: String?
  private(set) var held: [String: [UInt8]] = [:]
  private(set) var places: [Place] = []

  init(
    port: Int, query: String = "", headers: [(String, String)] = [], from place: Place? = nil
  ) {
    self.port = port
    self.query = query
    self.headers = headers
    cursor = place?.cursor
    held = place?.held ?? [:]
  }

  /// Takes one page.
  ///
  /// - Returns: whether it was the last one; nil if the cursor cannot be continued.
  mutating func takePage(_ client: RawClient, limit: Int) throws -> Bool? {
    let since = cursor.map { "&since=\($0)" } ?? ""
    let answer = try client.request(
      "GET", "/v1/changes?limit=\(limit)\(since)\(query)", headers: headers)
    if answer.status == 410 { return nil }
    guard answer.status == 200 else { throw Problem.refused(answer.status, answer.text) }
    let page = try JSONValue(parsing: answer.body)
    for change in page["changes"]?.array ?? [] {
      let name = "\(change["type"]?.string ?? "")/\(change["id"]?.string ?? "")"
      held[name] = change["op"] == "put" ? change["data"]?.bytes : nil
    }
    cursor = page["cursor"]?.string
    if let cursor { places.append(Place(cursor: cursor, held: held)) }
    return page["complete"] == true
  }

  /// Reads until the last page.
  ///
  /// - Returns: false if the cursor cannot be continued.
  mutating func catchUp(limit: Int = 500) throws -> Bool {
    let client = try RawClient(port: port)
    while true {
      guard let isComplete = try takePage(client, limit: limit) else { return false }
      if isComplete { return true }
    }
  }

  /// Reads page by page until the service ends.
  mutating func followUntilTheEnd() {
    guard let client = try? RawClient(port: port) else { return }
    while (try? takePage(client, limit: 20)) != nil {}
  }
}

/// A client that keeps a page of films by list diffs.
struct ListReader {
  private static let query = "filter=id%20LIKE%20%3F&arg=f1%25&order=title&limit=200"
  /// The number of a round's lists that are checked after it.
  private static let keptMax = 5

  private var copy = ListCopy()

  /// Takes a diff from the list it has, by its tag.
  mutating func takeDiff(_ client: RawClient) throws {
    let from = copy.tag.map { "&from=%22\($0.dropFirst().dropLast())%22" } ?? ""
    let answer = try client.request("GET", "/v1/entities/Film/diff?\(Self.query)\(from)")
    guard answer.status != 304 else { return }
    #expect(answer.status == 200, "\(answer.text)")
    try copy.apply(try JSONValue(parsing: answer.body))
  }

  func isCurrent(_ client: RawClient) throws -> Bool {
    let answer = try client.request("GET", "/v1/entities/Film?\(Self.query)")
    return try JSONValue(parsing: answer.body)["items"]?.array == copy.items
  }

  /// Takes diffs until the service ends.
  ///
  /// - Returns: the last lists it had.
  static func followUntilTheEnd(port: Int) -> [ListReader] {
    guard let client = try? RawClient(port: port) else { return [] }
    var kept: [ListReader] = []
    var reader = ListReader()
    while true {
      do {
        try reader.takeDiff(client)
      } catch let broken as ListCopy.Broken {
        Issue.record(broken)
        return kept
      } catch {
        return kept
      }
      kept.append(reader)
      if kept.count > keptMax { kept.removeFirst() }
    }
  }
}
