import Gateway
import HTTPServer
import Model
import Testing

@testable import Endpoints

struct ChangesQueryTests {
  private static func type(_ name: String, _ columns: String...) -> EntityType {
    EntityType(
      name: name, keyFields: ["id"],
      columns: (["id"] + columns).map { EntityType.Column(name: $0, kind: .text) })
  }

  private static func read(_ target: String) throws -> ChangesQuery {
    try ChangesQuery(
      try request("GET", target).queryParameters(),
      types: [type("Cat", "name"), type("Dog", "name", "bone"), type("A", "a")],
      possibleTypes: ["Pet": ["Cat", "Dog"], "Empty": []], now: Timestamp(milliseconds: 0))
  }

  @Test("An interface stands for its types, and its filter is one on each of them")
  func interfacesStandForTheirTypes() throws {
    #expect(try Self.read("/v1/changes?types=Pet").filter.types == ["Cat", "Dog"])
    #expect(try Self.read("/v1/changes?types=A,Pet,Cat").filter.types == ["A", "Cat", "Dog"])
    #expect(
      try Self.read("/v1/changes?types=Pet").filter.digest
        == Self.read("/v1/changes?types=Dog,Cat").filter.digest)
    let named = try Self.read("/v1/changes?types=Pet&filter=name%3Dnow()").filter
    #expect(named.types == ["Cat", "Dog"] && named.condition?.usesNow == true)
    // One of the types does not have the column.
    #expect(throws: (any Error).self) {
      try Self.read("/v1/changes?types=Pet&filter=bone%3D'x'")
    }
  }

  @Test(
    "An unknown name, and an interface without types, are faults",
    arguments: ["types=Bird", "types=Pet,Bird", "types=Empty", "types="])
  func refusesUnknownTypes(query: String) throws {
    #expect(throws: (any Error).self) { try Self.read("/v1/changes?\(query)") }
  }

  @Test(
    "A single-valued parameter given twice is refused",
    arguments: [
      "limit=1&limit=2", "since=now&since=now", "wait=1&wait=1", "on=insert&on=update",
      "types=A&filter=a%3D1&filter=a%3D1",
    ])
  func repeatedParametersAreRefused(query: String) throws {
    #expect(throws: (any Error).self) {
      try Self.read("/v1/changes?\(query)")
    }
  }

  @Test(
    "A wait within the limit is accepted",
    arguments: [
      ("0", Duration.zero), ("0.5", .milliseconds(500)), ("60", .seconds(60)),
    ])
  func acceptsWait(text: String, wait: Duration) throws {
    let query = try Self.read("/v1/changes?wait=\(text)")
    #expect(query.wait == wait)
  }

  @Test(
    "A wait out of range or not a number is refused",
    arguments: [
      "-1", "61", "60.001", "1e21", "5.0e+287", "1.7e308", "1e400", "nan", "inf", "soon", "",
    ])
  func refusesWait(text: String) throws {
    #expect(throws: (any Error).self) {
      try Self.read("/v1/changes?wait=\(text)")
    }
  }

  @Test(
    "Parameters of lists are refused with what shows nested entities instead",
    arguments: ["include", "view"])
  func refusesNesting(parameter: String) throws {
    let failure = try #require(
      #expect(throws: Failure.self) {
        try Self.read("/v1/changes?limit=0&\(parameter)=director")
      })
    #expect(failure.code == .malformedRequest)
    #expect(failure.details.map(\.place) == [.parameter("limit"), .parameter(parameter)])
    let detail = try #require(failure.details.last?.detail)
    #expect(detail.contains("/v1/entities/{Type}/diff") && detail.contains("types"), "\(detail)")
  }
}
