/// Which of OneSignal's two interfaces a key is for.
package enum OneSignalAPI: Sendable, CaseIterable {
  /// Users with subscriptions; keys that begin with `os_v2_app_`.
  case current
  /// "Players"; keys from before November 2024.
  case legacy

  /// Where it is, without a slash at the end.
  package var url: String {
    switch self {
    case .current: "https://api.onesignal.com"
    case .legacy: "https://onesignal.com/api/v1"
    }
  }

  /// The scheme's word. A legacy key stands behind `Basic` as it is, without base 64.
  var scheme: String {
    switch self {
    case .current: "Key"
    case .legacy: "Basic"
    }
  }
}
