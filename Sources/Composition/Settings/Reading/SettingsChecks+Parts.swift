/// Checks of settings that need a part of the service that is switched off.
extension SettingsChecks {
  private static let noUsers =
    "needs users, and there are none with `accounts: off` and without `accounts.issuers`"

  var parts: [SettingsFault] {
    ofPush + ofS3 + ofQueue + ofUsers
  }

  private var ofPush: [SettingsFault] {
    guard settings.push.isOn, let written = firstWritten(in: "push") else { return [] }
    if !settings.devices.isOn {
      return fault(
        written,
        "`\(written)` needs devices, which `devices: off` switches off; set `push: off` too")
    }
    guard !settings.hasUsers else { return [] }
    return fault(written, "`\(written)` \(Self.noUsers); set `push: off` too")
  }

  private var ofS3: [SettingsFault] {
    guard settings.s3.isOn, !settings.files.isOn, let written = firstWritten(in: "s3") else {
      return []
    }
    return fault(
      written, "`\(written)` needs files, which `files: off` switches off; set `s3: off` too")
  }

  /// Each queue is that of a device.
  private var ofQueue: [SettingsFault] {
    guard !settings.devices.isOn, let written = firstWritten(in: "queue") else { return [] }
    return fault(
      written,
      "`\(written)` needs devices, which `devices: off` switches off; remove one of the two")
  }

  private var ofUsers: [SettingsFault] {
    guard !settings.hasUsers else { return [] }
    var faults: [SettingsFault] = []
    if settings.devices.isOn, settings.devices.register == .user {
      faults += fault(
        "devices.register",
        "`devices.register: user` \(Self.noUsers); set it to `open` or `admin`")
    }
    if settings.files.isOn {
      for (name, bucket) in settings.files.buckets.sorted(by: { $0.key < $1.key })
      where bucket.access == .user {
        let setting = "files.buckets.\(name).access"
        faults += fault(
          setting, "`\(setting): user` \(Self.noUsers); set it to `public-read` or `admin`")
      }
    }
    return faults
  }

  /// The first setting of a section that a source has.
  private func firstWritten(in section: String) -> String? {
    places.filter { $0.key.hasPrefix("\(section).") }.min { $0.value < $1.value }?.key
  }
}
