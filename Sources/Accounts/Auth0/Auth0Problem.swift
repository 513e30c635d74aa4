import HTTPTypes
import HTTPWire
import LosslessJSON
import Model

/// An error response of Auth0, normalised from its three forms.
///
/// OAuth errors have `error` and `error_description`; sign-up errors have `code`, `name` and a
/// `description` that is a string or an object; management API errors have a readable `error` and a
/// `message` or `errorCode`. Statuses differ from page to page of the documentation, so the code
/// decides if there is one.
struct Auth0Problem: Sendable {
  let status: Int
  let code: String
  let text: String
  private let body: JSONValue?
  private let wait: Duration?

  init(_ response: JSONExchange.Response, at now: Timestamp) {
    let body = response.body
    status = response.status
    let isOfManagement = body?["message"] != nil && body?["statusCode"] != nil
    let oauth = isOfManagement ? nil : body?["error"]?.string
    code = oauth ?? body?["code"]?.string ?? body?["errorCode"]?.string ?? ""
    text =
      body?["error_description"]?.string ?? body?["description"]?.string
      ?? body?["message"]?.string ?? ""
    self.body = body
    wait = Self.wait(response.fields, now)
  }

  func fault(at request: Auth0Request) -> AccountFault {
    let fault = faultByCode(at: request)
    guard request == .managementToken else { return fault }
    switch fault {
    case .rateLimited, .unavailable: return fault
    // The request is about no user, so a refusal concerns this service.
    default: return .misconfigured(cause: cause)
    }
  }

  private func faultByCode(at request: Auth0Request) -> AccountFault {
    if let weakness { return weakness }
    switch code {
    case "invalid_grant", "invalid_user_password":
      switch request {
      case .signIn: return .wrongCredentials
      case .refresh: return .sessionExpired
      default: return .misconfigured(cause: cause)
      }
    case "mfa_required": return .mfaRequired
    case "password_leaked": return .passwordLeaked
    case "too_many_attempts": return .blocked
    case "unauthorized": return text.contains("blocked") ? .blocked : .denied
    case "access_denied", "requires_verification", "extensibility_error": return .denied
    case "user_exists", "username_exists", "invalid_signup": return .accountExists
    case "inexistent_user": return .wrongCredentials
    case "invalid_client", "unauthorized_client", "unsupported_grant_type", "invalid_request",
      "insufficient_scope":
      return .misconfigured(cause: cause)
    default: return faultByStatus(at: request)
    }
  }

  private func faultByStatus(at request: Auth0Request) -> AccountFault {
    switch status {
    case 429: .rateLimited(after: wait)
    case 500...: .unavailable(cause: cause, wasSent: true)
    case 401, 403: request == .signIn || request == .signUp ? .denied : sessionFault(at: request)
    case 404 where request == .setPassword: .wrongCredentials
    default: .misconfigured(cause: cause)
    }
  }

  /// The profile is requested with the user's own token.
  private func sessionFault(at request: Auth0Request) -> AccountFault {
    request == .profile ? .denied : .misconfigured(cause: cause)
  }

  private var cause: String { "Auth0 responded with \(status) \(code): \(text)" }

  // MARK: Passwords that break a rule

  private var weakness: AccountFault? {
    let message = body?["message"]?.string ?? ""
    let name = body?["name"]?.string ?? String(message.prefix { $0 != ":" })
    switch (code, name) {
    case (_, "PasswordHistoryError"): return .weakPassword(["It must not have been used before."])
    case ("password_dictionary_error", _), (_, "PasswordDictionaryError"):
      return .weakPassword(["It must not be a common password."])
    case ("password_no_user_info_error", _), (_, "PasswordNoUserInfoError"):
      return .weakPassword(["It must not contain the user's personal data."])
    case ("invalid_password", _), (_, "PasswordStrengthError"):
      let rules = brokenRules
      return .weakPassword(rules.isEmpty ? ["It must be stronger."] : rules)
    default: return nil
    }
  }

  private var brokenRules: [String] {
    let rules = body?["description"]?["rules"]?.array ?? []
    return rules.filter { $0["verified"]?.bool != true }.compactMap(Self.sentence)
  }

  /// A rule's message with its numbers filled in.
  private static func sentence(_ rule: JSONValue) -> String? {
    guard var text = rule["message"]?.string else { return nil }
    for value in rule["format"]?.array ?? [] {
      guard let place = text.firstRange(of: "%d") ?? text.firstRange(of: "%s") else { break }
      text.replaceSubrange(place, with: value.string ?? value.number?.description ?? "")
    }
    return text
  }

  // MARK: Retry time

  private static func wait(_ fields: HTTPFields, _ now: Timestamp) -> Duration? {
    let date = HTTPDate(secondsSince1970: now.milliseconds / 1000)
    if let wait = fields[.retryAfter].flatMap({ RetryAfter.wait($0, now: date) }) { return wait }
    guard let name = HTTPField.Name("X-RateLimit-Reset"),
      let reset = fields[name].flatMap({ Int64($0) }), 0..<Int64.max / 1000 ~= reset
    else { return nil }
    return now.elapsed(until: Timestamp(milliseconds: reset * 1000))
  }
}
