import HTTPWire
import Testing

@testable import Gateway

struct S3ErrorCodeTests {
  /// Clients that wait for `100 Continue` cannot read a status line without one.
  @Test(arguments: S3ErrorCode.allCases)
  func everyStatusHasAReason(code: S3ErrorCode) {
    #expect((400..<600).contains(code.status))
    #expect(StatusLine.reason(code.status).utf8CodeUnitCount > 0, "\(code.status)")
  }
}
