/// OneSignal's two APIs.
package enum OneSignalAPI: Sendable, CaseIterable {
  /// Users with subscriptions; its keys begin with `os_v2_app_`.
  case current
  /// "Players"; its keys are from before November 2024.
  case legacy

  /// The base URL, without a trailing slash.
  package var url: String {
    switch self {
    case .current: "https://api.onesignal.com"
    case .legacy: "https://onesignal.com/api/v1"
    }
  }

  /// The authorisation scheme. A legacy key follows `Basic` as it is, without base64.
  var scheme: String {
    switch self {
    case .current: "Key"
    case .legacy: "Basic"
    }
  }
}

/// The OneSignal application that this service sends for.
package struct OneSignalSettings: Sendable {
  package let api: OneSignalAPI
  /// The API's base URL, without a trailing slash.
  package let base: String
  package let appID: String
  let key: String

  /// - Parameter url: the API's base URL; nil for OneSignal's own.
  package init(api: OneSignalAPI, url: String? = nil, appID: String, key: String) {
    self.api = api
    self.appID = appID
    self.key = key
    var base = url ?? api.url
    while base.hasSuffix("/") { base.removeLast() }
    self.base = base
  }
}

/// OneSignal's name of a platform that devices register with.
struct OneSignalPlatform: Hashable {
  /// The `type` of a subscription.
  let type: String
  /// The legacy `device_type`; nil if the legacy API has none.
  let deviceType: Int64?

  private static let all = [
    "ios": Self(type: "iOSPush", deviceType: 0),
    "ipados": Self(type: "iOSPush", deviceType: 0),
    "android": Self(type: "AndroidPush", deviceType: 1),
    "amazon": Self(type: "FireOSPush", deviceType: 2),
    "fireos": Self(type: "FireOSPush", deviceType: 2),
    "huawei": Self(type: "HuaweiPush", deviceType: 13),
    "web": Self(type: "ChromePush", deviceType: 5),
    "chrome": Self(type: "ChromePush", deviceType: 5),
    "firefox": Self(type: "FirefoxPush", deviceType: 8),
    "safari": Self(type: "SafariPush", deviceType: 7),
    "macos": Self(type: "macOSPush", deviceType: 9),
    "windows": Self(type: "WindowsPush", deviceType: 6),
  ]

  /// - Parameter name: case-insensitive.
  static func named(_ name: String) throws(PushFault) -> OneSignalPlatform {
    guard let platform = all[name.lowercased()] else {
      throw .permanent(reason: "OneSignal does not support the platform \(name)")
    }
    return platform
  }

  private init(type: String, deviceType: Int64?) {
    self.type = type
    self.deviceType = deviceType
  }
}
