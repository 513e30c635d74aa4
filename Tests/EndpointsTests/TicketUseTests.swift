import HTTPServer
import HTTPWire
import Model
import Testing

@testable import Endpoints

/// Which routes take stream tickets, and what the others do with them.
struct TicketUseTests {
  private static let lines = LarderRoutes.lines(for: [], hasPages: true, hasMetrics: true)

  @Test("Exactly the streams of GET take tickets")
  func onlyStreamsTakeTickets() {
    #expect(Self.lines.count > 60)
    for line in Self.lines {
      // Operators' streams take their own credentials alone.
      let isStream =
        line.method == .get && "\(line.pattern)".hasSuffix("/stream") && line.operators != .required
      #expect((line.ticket == .stream) == isStream, "\(line.method) \(line.pattern)")
    }
  }

  @Test("A line that leaves the query alone is a page's, or of the S3 API")
  func fewLinesIgnoreTickets() {
    for line in Self.lines where line.ticket == .ignored {
      let pattern = "\(line.pattern)"
      #expect(pattern.hasPrefix("/s3") || pattern == "/{path...}", "\(pattern)")
    }
  }

  @Test(
    "A ticket is refused but by the streams of GET",
    arguments: [
      (.refused, "GET", "?ticket=a", true), (.refused, "POST", "?a=1&ticket=a", true),
      (.refused, "GET", "?a=1", false), (.refused, "GET", "?tickets=a", false),
      (.refused, "GET", "?ticket", true), (.refused, "GET", "?%74icket=a", true),
      (.refused, "GET", "?ticket=a&b=%zz", true), (.refused, "GET", "?b=%zz", false),
      (.stream, "GET", "?ticket=a", false), (.stream, "HEAD", "?ticket=a", true),
      (.stream, "POST", "?ticket=a", true), (.variable, "GET", "?ticket=a", true),
      (.ignored, "GET", "?ticket=a", false), (.endpoint, "POST", "?ticket=a", false),
    ] as [(TicketUse, String, String, Bool)])
  func refusesTickets(use: TicketUse, method: String, query: String, isRefused: Bool) throws {
    let asked = try request(method, "/v1/x\(query)")
    var failure: Failure?
    do throws(Failure) {
      try use.check(asked) { false }
    } catch {
      failure = error
    }
    #expect((failure != nil) == isRefused)
    #expect(failure.map { $0.code == .forbidden } ?? true)
  }

  @Test("A variable that is called ticket is a variable")
  func variablesAreNoTickets() throws {
    try TicketUse.variable.check(try request("GET", "/v1/operations/A?ticket=7")) { true }
    #expect(throws: Failure.self) {
      try TicketUse.refused.check(try request("POST", "/v1/operations/A?ticket=7")) { true }
    }
  }
}
