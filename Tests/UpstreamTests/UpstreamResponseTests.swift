import LosslessJSON
import Testing

@testable import Upstream

struct InputFaultTests {
  @Test(
    "Refused input is distinguished from failed execution",
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
  func distinguishesRefusals(status: Int, body: String, isRefused: Bool) throws {
    let answer = try #require(
      UpstreamResponse(document: try JSONDocument(text: body), status: status))
    #expect((answer.inputFaults != nil) == isRefused)
  }
}

struct ThrottlingCodeTests {
  @Test(
    "Throttling codes are recognised",
    arguments: [
      "postgres-max-connections-error", "busy", "ThrottlingException", "LimitExceededError",
      "DynamoDB:ProvisionedThroughputExceededException", "Lambda:TooManyRequestsException",
      "com.amazonaws.deepdish.graphql#ThrottlingException", "RATE_LIMITED",
    ])
  func recognisesThrottling(code: String) {
    #expect(ThrottlingCode.contains(code))
  }

  @Test(
    "Other codes are not throttling codes",
    arguments: [
      "", "#", "constraint-violation", "postgres-error", "UnauthorizedException",
      "throttlingexception",
      "DynamoDB:ConditionalCheckFailedException", "ThrottlingException:Lambda",
    ])
  func ignoresOtherCodes(code: String) {
    #expect(!ThrottlingCode.contains(code))
  }
}
