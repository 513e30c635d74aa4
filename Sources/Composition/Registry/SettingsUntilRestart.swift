/// The settings that a reload leaves as they are: those of the sockets, of the process, of the data folder
/// and of the cluster.
enum SettingsUntilRestart {
  /// Names of settings and of sections.
  static let names = [
    "listen", "data", "s3.listen", "metrics.listen", "tls", "limits", "proxies", "start", "drain",
    "log.format", "tracing", "cluster", "standby",
  ]

  static func contains(_ name: String) -> Bool {
    names.contains { name == $0 || name.hasPrefix("\($0).") }
  }
}

extension LoadedSettings {
  /// Returns the settings with those of a running service where a reload cannot change them.
  ///
  /// - Parameter servesS3: whether it listens on addresses of S3.
  /// - Returns: the settings, and the names of those that need a restart, in the order of the table.
  func keepingUntilRestart(
    of running: Settings, servesS3: Bool
  ) -> (loaded: LoadedSettings, names: [String]) {
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
    kept.tracing = running.tracing
    kept.cluster = running.cluster
    kept.standby = running.standby
    var names = SettingTable.changedNames(from: running, to: settings)
      .filter(SettingsUntilRestart.contains)
    // S3 was switched off at the start.
    let lacksAddresses = settings.s3.isOn && !servesS3 && !settings.s3.listen.isEmpty
    if lacksAddresses, !names.contains("s3.listen") { names.append("s3.listen") }
    return (
      LoadedSettings(settings: kept, notes: notes, places: places, excerpt: excerpt), names
    )
  }
}
