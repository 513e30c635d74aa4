import Testing

@testable import Endpoints

struct ChangesQueryTests {
  @Test(arguments: [
    ("0", Duration.zero), ("0.5", .milliseconds(500)), ("60", .seconds(60)),
    ("61", .seconds(60)), ("1e21", .seconds(60)), ("1.7e308", .seconds(60)),
  ])
  func aWaitIsBoundedWhateverItsSize(text: String, wait: Duration) throws {
    let query = try ChangesQuery(request("GET", "/v1/changes?wait=\(text)"), types: [])
    #expect(query.wait == wait)
  }

  @Test(arguments: ["-1", "nan", "inf", "soon", ""])
  func aWaitIsANumberOfSeconds(text: String) throws {
    #expect(throws: (any Error).self) {
      try ChangesQuery(request("GET", "/v1/changes?wait=\(text)"), types: [])
    }
  }
}
