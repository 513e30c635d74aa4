/// The settings that a reload leaves as they are: those of the sockets, of the process and of the data
/// folder.
enum SettingsUntilRestart {
  /// Names of settings and of sections.
  static let names = [
    "listen", "data", "s3.listen", "metrics.listen", "tls", "limits", "proxies", "start", "drain",
    "log.format",
  ]

  static func contains(_ name: String) -> Bool {
    names.contains { name == $0 || name.hasPrefix("\($0).") }
  }
}

extension LoadedSettings {
  /// Returns the settings with those of a running service where a reload cannot change them.
  ///
  /// - Returns: the settings, and the names of those that need a restart, in the order of the table.
  func keepingUntilRestart(of running: Settings) -> (loaded: LoadedSettings, names: [String]) {
    var kept = settings
    kept.listen = running.listen
    kept.dataFolder = running.dataFolder
    kept.isDataEncrypted = running.isDataEncrypted
    kept.s3.listen = running.s3.listen
    kept.metrics.listen = running.metrics.listen
    kept.tls = running.tls
    kept.limits = running.limits
    kept.trustedProxies = running.trustedProxies
    kept.start = running.start
    kept.drain = running.drain
    kept.log.format = running.log.format
    return (
      LoadedSettings(settings: kept, notes: notes, places: places, excerpt: excerpt),
      SettingTable.changedNames(from: running, to: settings).filter(SettingsUntilRestart.contains)
    )
  }
}
