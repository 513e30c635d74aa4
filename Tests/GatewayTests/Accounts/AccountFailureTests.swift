import Accounts
import Model
import Testing

@testable import Gateway

/// The problem reported for each fault of an account provider.
struct AccountFailureTests {
  @Test(
    "Each account fault maps to a problem code",
    arguments: [
      (.wrongCredentials, .invalidCredentials, nil), (.sessionExpired, .sessionExpired, nil),
      (.accountExists, .accountExists, nil), (.weakPassword(["Longer."]), .weakPassword, nil),
      (.mfaRequired, .mfaRequired, nil), (.blocked, .accountBlocked, nil),
      (.disabled, .accountDisabled, nil), (.passwordLeaked, .passwordLeaked, nil),
      (.denied, .forbidden, nil),
      (.rateLimited(after: .seconds(7)), .rateLimited, .seconds(7)),
      (.rateLimited(after: nil), .rateLimited, .seconds(60)),
      (.overloaded, .overloaded, .seconds(5)),
      (.misconfigured(cause: "why"), .accountsMisconfigured, nil),
      (.unavailable(cause: "why", wasSent: true), .accountsUnavailable, .seconds(5)),
      (.unavailable(cause: "why", wasSent: false), .accountsUnavailable, .seconds(5)),
    ] as [(AccountFault, Failure.Code, Duration?)])
  func failure(_ fault: AccountFault, code: Failure.Code, wait: Duration?) {
    let failure = Failure(fault, passwordMember: "newPassword")
    #expect(failure.code == code)
    #expect(failure.retryAfter == wait)
    #expect((failure.retry == .after) == (wait != nil))
    #expect(!failure.message.contains("why"))
    let places = failure.details.map(\.place)
    #expect(places == (code == .weakPassword ? [.pointer("/newPassword")] : []))
  }
}
