import Accounts
import Model

extension Failure {
  /// The problem reported to the client for an account provider's fault.
  ///
  /// - Parameter passwordMember: the member of the request body that holds the new password.
  init(_ fault: AccountFault, passwordMember: String = "password") {
    switch fault {
    case .wrongCredentials:
      self.init(.invalidCredentials, "The email address or the password is wrong.")
    case .sessionExpired:
      self.init(.sessionExpired, "The refresh token is no longer valid; sign in again.")
    case .accountExists:
      self.init(.accountExists, "An account with this email address already exists.")
    case .weakPassword(let rules):
      self.init(
        .weakPassword, "The password does not meet the password rules.",
        details: rules.map { Detail(place: .pointer("/\(passwordMember)"), detail: $0) })
    case .mfaRequired:
      self.init(
        .mfaRequired, "This account requires a second factor, which is not supported.")
    case .blocked:
      self.init(.accountBlocked, "This account is blocked.")
    case .disabled:
      self = .accountDisabled
    case .passwordLeaked:
      self.init(.passwordLeaked, "This password was found in a data leak; reset it.")
    case .denied:
      self.init(.forbidden, "The account provider denied the request.")
    case .rateLimited(let wait):
      self.init(
        .rateLimited, "The account provider's rate limit is exceeded; retry later.", retry: .after,
        retryAfter: wait ?? .seconds(60))
    case .overloaded:
      self.init(
        .overloaded, "Too many password checks are in progress; retry later.", retry: .after,
        retryAfter: .seconds(5))
    case .misconfigured(let cause):
      self.init(
        .accountsMisconfigured, "The account provider rejects this service's configuration.",
        cause: cause)
    case .storeUnavailable(let cause):
      self.init(
        .storageUnavailable, "The account store is unavailable; retry later.", retry: .after,
        retryAfter: .seconds(5), cause: cause)
    case .unavailable(let cause, _):
      self.init(
        .accountsUnavailable, "The account provider does not respond; retry later.", retry: .after,
        retryAfter: .seconds(5), cause: cause)
    }
  }

  /// The refusal of everything that an account does while an operator has disabled it.
  ///
  /// With another `retry`, client libraries would give up the mutations in their outboxes.
  static var accountDisabled: Failure {
    Failure(
      .accountDisabled,
      "An operator has disabled this account. Nothing is lost: it goes on when it is enabled again.",
      retry: .sameKey)
  }

  /// The problem reported to the client for a rejected token of a configured issuer.
  init(_ fault: TokenFault) {
    switch fault {
    case .expired:
      self.init(.tokenExpired, "The access token has expired; refresh it.")
    case .keysUnavailable(let cause):
      self.init(
        .accountsUnavailable, "The token issuer's keys cannot be fetched; retry later.",
        retry: .after,
        retryAfter: .seconds(5), cause: cause)
    default:
      self.init(.tokenInvalid, "The access token is invalid.", cause: "\(fault)")
    }
  }
}
