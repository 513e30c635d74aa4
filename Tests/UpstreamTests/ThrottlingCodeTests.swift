import Testing
import Upstream

struct ThrottlingCodeTests {
  @Test(arguments: [
    "postgres-max-connections-error", "busy", "ThrottlingException", "LimitExceededError",
    "DynamoDB:ProvisionedThroughputExceededException", "Lambda:TooManyRequestsException",
    "com.amazonaws.deepdish.graphql#ThrottlingException", "RATE_LIMITED",
  ])
  func saysThatNothingWasDone(code: String) {
    #expect(ThrottlingCode.contains(code))
  }

  @Test(arguments: [
    "", "#", "constraint-violation", "postgres-error", "UnauthorizedException",
    "throttlingexception",
    "DynamoDB:ConditionalCheckFailedException", "ThrottlingException:Lambda",
  ])
  func leavesOthersAlone(code: String) {
    #expect(!ThrottlingCode.contains(code))
  }
}
