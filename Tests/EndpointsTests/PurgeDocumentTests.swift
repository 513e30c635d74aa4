import Model
import Testing

@testable import Endpoints

struct PurgeDocumentTests {
  @Test(
    "A purge selects operations, tags, types or entities",
    arguments: [
      (#"{"operation":"Films"}"#, [InvalidationTarget.operation("Films")]),
      (#"{"operation":["A","B"],"tag":"t"}"#, [.operation("A"), .operation("B"), .tag("t")]),
      (#"{"type":"Film"}"#, [.type("Film")]),
      (
        #"{"type":"Film","id":["1","2"]}"#,
        [
          .entity(EntityKey(type: "Film", key: "1")), .entity(EntityKey(type: "Film", key: "2")),
        ]
      ),
    ])
  func readsTargets(body: String, targets: [InvalidationTarget]) throws {
    #expect(try PurgeDocument.targets(Array(body.utf8)) == targets)
  }

  @Test(
    "Every fault of a purge request is reported",
    arguments: [
      ("{", 0), ("[]", 0), ("{}", 1), (#"{"id":"1"}"#, 1), (#"{"type":["A","B"],"id":"1"}"#, 1),
      (#"{"colour":"red","tag":3,"operation":[]}"#, 3),
    ])
  func reportsEveryFault(body: String, faults: Int) {
    let failure = #expect(throws: Failure.self) { try PurgeDocument.targets(Array(body.utf8)) }
    #expect(failure?.code == .malformedRequest)
    #expect(failure?.details.count == faults)
  }
}
