import LosslessJSON
import Model

/// A refusal of the service's own credential by upstream. No caller can repair it, so it is a failure of
/// the service and no answer to the caller.
package struct ServiceRefusal: Hashable, Sendable {
  /// Upstream's status and code, for the log.
  package let reason: String
  /// The settings that contain the credential, such as `upstream.secret`.
  package let settings: [String]

  package init(reason: String, settings: [String]) {
    self.reason = reason
    self.settings = settings
  }

  /// What the operator does about it.
  package var cure: String {
    "Set \(settings.joined(separator: " or ")) to a credential that the API accepts, then reload or "
      + "restart."
  }
}

/// Called with upstream's refusal of the service's own credential, or with nil when upstream has accepted it.
package typealias ServiceCredentialObserver = @Sendable (ServiceRefusal?) -> Void

extension UpstreamConfiguration {
  /// The settings that contain a credential of the service: the secret, and the headers whose names mark
  /// them as credentials. Empty without one.
  package var credentialSettings: [String] {
    let section = name == .sole ? "upstream" : "upstreams.\(name)"
    return (secret == nil ? [] : ["\(section).secret"])
      + headers.map(\.name).filter(CredentialName.matches).map { "\(section).headers.\($0)" }
  }

  /// Whether a call is authenticated by the service's own credential: it is sent unless a user's is.
  package func usesOwnCredential(_ call: UpstreamCall) -> Bool {
    !call.carriesUserCredential && !credentialSettings.isEmpty
  }

  /// Returns upstream's refusal of the credential that a call of the service's own was sent with.
  ///
  /// - Parameter isPublic: whether no caller's credential could be sent instead.
  /// - Returns: nil if upstream accepted the credential, though it can have refused single fields.
  package func refusal(
    in response: UpstreamResponse, of call: UpstreamCall, isPublic: Bool
  ) -> ServiceRefusal? {
    guard usesOwnCredential(call), response.refusesCredential(isPublic: isPublic) else {
      return nil
    }
    let code = response.permissionCode.map { ", code \($0)" } ?? ""
    return ServiceRefusal(
      reason: "status \(response.status)\(code)", settings: credentialSettings)
  }
}

extension UpstreamResponse {
  /// Whether upstream refused the request's credential as a whole.
  ///
  /// An error at a field says that the operation was executed, so that upstream had accepted the
  /// credential, though it may demand a user's for that field. The status 403 alone is a refusal, as
  /// gateways answer; a code such as `permission-error` concerns the operation.
  fileprivate func refusesCredential(isPublic: Bool) -> Bool {
    guard data == nil else { return false }
    let wasExecuted = errors?.elements.contains { $0["path"]?.kind == .array } ?? false
    switch permission {
    case .unauthenticated: return !wasExecuted || isPublic
    case .forbidden: return !wasExecuted && status == 403 && permissionCode == nil
    case nil: return false
    }
  }

  /// The first code of an error that reports a refusal.
  fileprivate var permissionCode: String? {
    let codes = errors?.elements.lazy.flatMap { error in
      [error["extensions"]?["code"], error["errorType"]].compactMap { $0?.string }
    }
    return codes?.first { PermissionProblem(code: $0) != nil }
  }
}
