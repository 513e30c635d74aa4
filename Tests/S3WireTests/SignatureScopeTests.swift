import S3Wire
import Testing

struct SignatureScopeTests {
  @Test func namesDayRegionAndService() {
    #expect(
      SignatureScope(day: "20130524", region: "us-east-1").text
        == "20130524/us-east-1/s3/aws4_request")
  }
}
