/// What OneSignal calls the platforms that devices name when they register.
struct OneSignalPlatform: Hashable {
  /// The `type` of a subscription.
  let type: String
  /// The legacy `device_type`; nil where there was none.
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

  /// - Parameter name: in any case.
  static func named(_ name: String) throws(PushFault) -> OneSignalPlatform {
    guard let platform = all[name.lowercased()] else {
      throw .permanent(reason: "OneSignal knows no platform \(name)")
    }
    return platform
  }

  private init(type: String, deviceType: Int64?) {
    self.type = type
    self.deviceType = deviceType
  }
}
