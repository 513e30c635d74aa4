import LosslessJSON
import Testing

@testable import Upstream

struct InputFaultTests {
  @Test(
    "An error of a field was executed, whatever status upstream gives it",
    arguments: [
      (400, #"{"data":null,"errors":[{"message":"no such book","path":["retitle"]}]}"#, false),
      (422, #"{"data":null,"errors":[{"message":"x","path":["a",0]}]}"#, false),
      (
        200,
        #"{"data":null,"errors":[{"message":"x","path":["a"],"extensions":{"code":"BAD_USER_INPUT"}}]}"#,
        false
      ),
      (400, #"{"errors":[{"message":"Variable \"$a\" got invalid value"}]}"#, true),
      (400, #"{"data":null,"errors":[{"message":"Syntax Error"}]}"#, true),
      (200, #"{"errors":[{"message":"x","extensions":{"code":"BAD_USER_INPUT"}}]}"#, true),
      (500, #"{"errors":[{"message":"x"}]}"#, false),
    ])
  func tellsRefusalsFromFailures(status: Int, body: String, isRefused: Bool) throws {
    let answer = try #require(
      UpstreamResponse(document: try JSONDocument(text: body), status: status))
    #expect((answer.inputFaults != nil) == isRefused)
  }
}
