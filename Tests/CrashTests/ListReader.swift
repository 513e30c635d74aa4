import LosslessJSON
import TestSupport
import Testing

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
