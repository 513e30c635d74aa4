import Accounts

extension AccountFault {
  /// Causes are for people.
  var withoutCause: AccountFault {
    switch self {
    case .misconfigured: .misconfigured(cause: "")
    case .unavailable(_, let wasSent): .unavailable(cause: "", wasSent: wasSent)
    default: self
    }
  }
}
