import Model
import Testing

@testable import Endpoints

struct ChangesQueryTests {
  @Test(
    "A single-valued parameter given twice is refused",
    arguments: [
      "limit=1&limit=2", "since=now&since=now", "wait=1&wait=1", "on=insert&on=update",
      "types=A&filter=a%3D1&filter=a%3D1",
    ])
  func repeatedParametersAreRefused(query: String) throws {
    #expect(throws: (any Error).self) {
      try ChangesQuery(request("GET", "/v1/changes?\(query)"), types: [])
    }
  }

  @Test(
    "A wait within the limit is accepted",
    arguments: [
      ("0", Duration.zero), ("0.5", .milliseconds(500)), ("60", .seconds(60)),
    ])
  func acceptsWait(text: String, wait: Duration) throws {
    let query = try ChangesQuery(request("GET", "/v1/changes?wait=\(text)"), types: [])
    #expect(query.wait == wait)
  }

  @Test(
    "A wait out of range or not a number is refused",
    arguments: [
      "-1", "61", "60.001", "1e21", "5.0e+287", "1.7e308", "1e400", "nan", "inf", "soon", "",
    ])
  func refusesWait(text: String) throws {
    #expect(throws: (any Error).self) {
      try ChangesQuery(request("GET", "/v1/changes?wait=\(text)"), types: [])
    }
  }

  @Test(
    "Parameters of lists are refused with what shows nested entities instead",
    arguments: ["include", "view"])
  func refusesNesting(parameter: String) throws {
    let failure = try #require(
      #expect(throws: Failure.self) {
        try ChangesQuery(request("GET", "/v1/changes?limit=0&\(parameter)=director"), types: [])
      })
    #expect(failure.code == .malformedRequest)
    #expect(failure.details.map(\.place) == [.parameter("limit"), .parameter(parameter)])
    let detail = try #require(failure.details.last?.detail)
    #expect(detail.contains("/v1/entities/{Type}/diff") && detail.contains("types"), "\(detail)")
  }
}
