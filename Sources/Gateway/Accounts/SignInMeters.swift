import Metrics
import Model

/// The result of a sign-in with a password, as a metric.
enum SignInResult: String, CaseIterable {
  case signedIn = "signed_in"
  /// The email address, the password or the device is wrong.
  case refused
  /// Too many attempts.
  case limited
  /// Accounts could not be checked.
  case failed

  init(_ failure: Failure) {
    self =
      switch failure.code {
      case .rateLimited, .overloaded: .limited
      case .accountsMisconfigured, .accountsUnavailable, .storageUnavailable, .storageFull,
        .internal:
        .failed
      default: .refused
      }
  }
}

struct SignInMeters: Sendable {
  private let counters: [SignInResult: Counter]

  init() {
    counters = Dictionary(
      uniqueKeysWithValues: SignInResult.allCases.map { result in
        (result, Counter(label: "larder.sign.ins", dimensions: [("result", result.rawValue)]))
      })
  }

  func note(_ result: SignInResult) { counters[result]?.increment() }
}
