import LosslessJSON
import Model
import Testing

@testable import Endpoints
@testable import Gateway

/// The body of a request for a stream ticket.
struct StreamTicketDocumentTests {
  @Test("Without a body the ticket is for one use of any stream")
  func emptyBody() throws {
    for text in ["", "{}", #"{"renewable":false}"#] {
      let document = try StreamTicketDocument(Array(text.utf8))
      #expect(!document.isRenewable && document.target == nil, "\(text)")
    }
  }

  @Test("A path binds the ticket, with its query if it has one")
  func pathBindsTheTicket() throws {
    let document = try StreamTicketDocument(
      Array(#"{"renewable":true,"path":"/api/films/stream?limit=3"}"#.utf8))
    #expect(document.isRenewable)
    let target = try #require(document.target)
    let path = "/api/films/stream"
    #expect(target.covers(StreamTarget(path: path, query: "limit=3&ticket=t")))
    #expect(!target.covers(StreamTarget(path: path, query: "limit=4&ticket=t")))
    let open = try StreamTicketDocument(Array(#"{"path":"/v1/changes/stream"}"#.utf8))
    #expect(!open.isRenewable)
    let used = StreamTarget(path: "/v1/changes/stream", query: "a=1&ticket=t")
    #expect(open.target?.covers(used) == true)
  }

  @Test(
    "All faults of a body are reported",
    arguments: [
      (#"{"renewable":1,"path":2,"more":3}"#, ["/more", "/renewable", "/path"]),
      (#"{"renewable":true}"#, ["/path"]),
      (#"{"path":"/v1/live"}"#, ["/path"]),
      (#"{"path":"/v1/changes"}"#, ["/path"]),
      (#"{"path":"https://example.com/v1/changes/stream"}"#, ["/path"]),
      (#"{"path":"/s3/pics/stream"}"#, ["/path"]),
    ])
  func faultsAreReported(text: String, pointers: [String]) {
    let failure = #expect(throws: Failure.self) { try StreamTicketDocument(Array(text.utf8)) }
    #expect(failure?.code == .malformedRequest)
    #expect(failure?.details.map(\.place) == pointers.map { .pointer($0) }, "\(text)")
  }
}
