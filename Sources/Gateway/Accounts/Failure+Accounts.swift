import Accounts
import Model

extension Failure {
  /// What an account provider could not do, in words for the one who asked.
  ///
  /// - Parameter passwordMember: of the request's body, that a new password stands in.
  init(_ fault: AccountFault, passwordMember: String = "password") {
    switch fault {
    case .wrongCredentials:
      self.init(.invalidCredentials, "The address or the password is wrong.")
    case .sessionExpired:
      self.init(.sessionExpired, "The refresh token is not good any more: sign in.")
    case .accountExists:
      self.init(.accountExists, "There is an account with this address.")
    case .weakPassword(let rules):
      self.init(
        .weakPassword, "The password breaks the rules.",
        details: rules.map { Detail(place: .pointer("/\(passwordMember)"), detail: $0) })
    case .mfaRequired:
      self.init(
        .mfaRequired, "This account asks for a second factor, which is not taken here.")
    case .blocked:
      self.init(.accountBlocked, "This account is blocked for now.")
    case .passwordLeaked:
      self.init(.passwordLeaked, "This password was found in a leak: reset it.")
    case .denied:
      self.init(.forbidden, "The account provider refuses this.")
    case .rateLimited(let wait):
      self.init(
        .rateLimited, "The account provider is asked too often.", retry: .after,
        retryAfter: wait ?? .seconds(60))
    case .overloaded:
      self.init(
        .overloaded, "Too many passwords are being checked.", retry: .after,
        retryAfter: .seconds(5))
    case .misconfigured(let cause):
      self.init(
        .accountsMisconfigured, "The account provider refuses this service.", cause: cause)
    case .storeUnavailable(let cause):
      self.init(
        .storageUnavailable, "Accounts cannot be stored or read at present.", retry: .after,
        retryAfter: .seconds(5), cause: cause)
    case .unavailable(let cause, _):
      self.init(
        .accountsUnavailable, "The account provider does not answer.", retry: .after,
        retryAfter: .seconds(5), cause: cause)
    }
  }

  /// Why a token that names an issuer of ours was refused.
  init(_ fault: TokenFault) {
    switch fault {
    case .expired:
      self.init(.tokenExpired, "The access token has expired: refresh it.")
    case .keysUnavailable(let cause):
      self.init(
        .accountsUnavailable, "The issuer's keys cannot be had at present.", retry: .after,
        retryAfter: .seconds(5), cause: cause)
    default:
      self.init(.tokenInvalid, "The access token is not good here.", cause: "\(fault)")
    }
  }
}
