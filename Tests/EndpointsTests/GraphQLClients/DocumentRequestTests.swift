import Gateway
import HTTPWire
import LosslessJSON
import Model
import Testing

@testable import Endpoints

/// The parameters of a GraphQL request, and their faults.
struct DocumentRequestTests {
  @Test("A body's members are read, null and unknown ones ignored")
  func readsBodies() throws {
    let request = try DocumentRequest(
      body: Array(
        """
        {"query":"{a}","operationName":null,"variables":{"n":1.50},"documentId":"d","more":[],
         "extensions":{"persistedQuery":{"version":1,"sha256Hash":"h"},"live":true,
                       "idempotencyKey":"k","other":1}}
        """.utf8))
    #expect(request.reference.text == "{a}" && request.reference.operationName == nil)
    #expect(request.reference.documentID == "d" && request.reference.hash == "h")
    #expect(request.variables?["n"]?.text == "1.50")
    #expect(request.isLive && request.idempotencyKey == "k")
    let empty = try DocumentRequest(
      body: Array(#"{"query":"","variables":null,"extensions":null}"#.utf8))
    #expect(empty.reference.text == nil && empty.variables == nil && !empty.isLive)
  }

  @Test(
    "A faulty body is refused: 400 if it is not a request at all, 422 for its members",
    arguments: [
      ("", 400, "no body"), ("{", 400, "not JSON"), ("[{}]", 400, "Batches"), ("1", 422, "object"),
      (#"{"query":1}"#, 422, "query must be a string"),
      (#"{"operationName":{}}"#, 422, "operationName must be a string"),
      (#"{"documentId":[]}"#, 422, "documentId must be a string"),
      (#"{"variables":"{}"}"#, 422, "variables must be an object"),
      (#"{"variables":[]}"#, 422, "variables must be an object"),
      (#"{"extensions":1}"#, 422, "extensions must be an object"),
      (#"{"extensions":{"persistedQuery":1}}"#, 422, "persistedQuery must be an object"),
      (#"{"extensions":{"persistedQuery":{"version":2,"sha256Hash":"h"}}}"#, 422, "version 1"),
      (#"{"extensions":{"persistedQuery":{"version":1}}}"#, 422, "sha256Hash"),
      (#"{"extensions":{"live":"yes"}}"#, 422, "extensions.live"),
      (#"{"extensions":{"idempotencyKey":1}}"#, 422, "extensions.idempotencyKey"),
      (#"{"query":"a","query":"b"}"#, 422, "more than once"),
    ])
  func refusesFaultyBodies(body: String, status: Int, words: String) throws {
    let refusal = try #require(
      #expect(throws: GraphQLRefusal.self) { try DocumentRequest(body: Array(body.utf8)) })
    #expect(refusal.status == status)
    #expect(refusal.failure.message.contains(words), "\(refusal.failure.message)")
  }

  private static func parameters(_ query: String) throws -> [QueryString.Parameter] {
    try QueryString(ArraySlice(Array(query.utf8))).parameters
  }

  @Test("A query string's parameters are read, empty ones are absent")
  func readsQueryStrings() throws {
    let request = try DocumentRequest(
      parameters: try Self.parameters(
        "operationName=Film&query=&variables=%7B%22id%22%3A%221%22%7D&ticket=t"
          + "&extensions=%7B%22live%22%3Afalse%7D"))
    #expect(request.reference.operationName == "Film" && request.reference.text == nil)
    #expect(request.variables == ["id": "1"] && !request.isLive)
    // A name, and not JSON's null.
    let null = try DocumentRequest(parameters: try Self.parameters("operationName=null"))
    #expect(null.reference.operationName == "null")
  }

  @Test(
    "A faulty query string is refused",
    arguments: ["variables=1", "variables=x", "extensions=[]", "query=a&query=b"])
  func refusesFaultyQueryStrings(query: String) throws {
    let refusal = try #require(
      #expect(throws: GraphQLRefusal.self) {
        try DocumentRequest(parameters: try Self.parameters(query))
      })
    #expect(refusal.status == 422)
  }
}
