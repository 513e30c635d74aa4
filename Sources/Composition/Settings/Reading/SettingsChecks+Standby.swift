import HTTPClient

/// Checks of `standby`.
extension SettingsChecks {
  var standby: [SettingsFault] {
    guard settings.standby.isOn else { return withoutPlace }
    return onePlace + bucketNeeds + standbyNeeds + standbyFiles + standbyTimes
  }

  /// The setting that switches the standby on.
  private var standbyPlace: String {
    settings.standby.folder != nil ? "standby.folder" : "standby.bucket"
  }

  /// A machine that was meant to have a standby must not run without one.
  private var withoutPlace: [SettingsFault] {
    let usual = StandbySettings()
    let isDumped =
      places["standby.name"] != nil && settings.standby.name == usual.name
      && settings.standby.lease == usual.lease && settings.standby.secret == nil
    guard !isDumped, places["standby.folder"] == nil, places["standby.bucket"] == nil,
      let name = places.filter({ $0.key.hasPrefix("standby.") }).min(by: { $0.value < $1.value })?
        .key
    else { return [] }
    return fault(
      name,
      "`\(name)` needs `standby.folder` or `standby.bucket`, without which there is no standby; set one,"
        + " or remove `standby`")
  }

  private var onePlace: [SettingsFault] {
    guard settings.standby.folder != nil, settings.standby.bucket != nil else { return [] }
    return fault(
      "standby.bucket", "`standby.folder` and `standby.bucket` cannot both be set; remove one")
  }

  private var bucketNeeds: [SettingsFault] {
    guard settings.standby.bucket != nil else { return [] }
    let (own, files) = (settings.standby, settings.files)
    var faults: [SettingsFault] = []
    for (name, isSet) in [
      ("endpoint", (own.endpoint ?? files.endpoint) != nil),
      ("accessKey", (own.accessKey ?? files.accessKey) != nil),
      ("secretKey", (own.secretKey ?? files.secretKey) != nil),
    ]
    where !isSet && places["standby.\(name)"] == nil && places["files.\(name)"] == nil {
      faults += fault(
        "standby.bucket", "`standby.bucket` needs `standby.\(name)`, or `files.\(name)`")
    }
    if let target = own.endpoint?.http.target, target != "/" {
      faults += fault(
        "standby.endpoint", "`standby.endpoint` must not have a path, but has \(target)")
    }
    return faults
  }

  private var standbyNeeds: [SettingsFault] {
    var faults: [SettingsFault] = []
    if settings.standby.secret == nil, places["standby.secret"] == nil {
      faults += fault(standbyPlace, "`\(standbyPlace)` needs `standby.secret`")
    }
    if settings.cluster.isOn {
      faults += fault(
        standbyPlace,
        "`\(standbyPlace)` cannot be used with `cluster.postgres`, whose nodes replace each other;"
          + " remove one of the two")
    }
    if settings.start.otherKey == .accept {
      faults += fault(
        "start.otherKey",
        "`start.otherKey: accept` cannot be used with a standby: both machines need the same key;"
          + " copy larder.key from the other one, or set LARDER_KEY")
    }
    return faults
  }

  private var standbyFiles: [SettingsFault] {
    guard settings.files.isOn, settings.files.store == .disk else { return [] }
    let written = places["files.store"] == nil ? standbyPlace : "files.store"
    return fault(
      written,
      "`\(standbyPlace)` needs `files.store: s3`, since files on this machine's disk do not reach the"
        + " other one; set it, or `files: off`")
  }

  private var standbyTimes: [SettingsFault] {
    let standby = settings.standby
    var faults: [SettingsFault] = []
    if standby.segmentInterval * 2 > standby.lease {
      let name = places["standby.segment"] == nil ? "standby.lease" : "standby.segment"
      faults += fault(
        name,
        "`standby.segment` (\(DurationText.print(standby.segmentInterval))) must be at most half of"
          + " `standby.lease` (\(DurationText.print(standby.lease)))")
    }
    if standby.snapshotInterval > standby.keep {
      let name = places["standby.snapshots"] == nil ? "standby.keep" : "standby.snapshots"
      faults += fault(
        name,
        "`standby.snapshots` (\(DurationText.print(standby.snapshotInterval))) must not exceed"
          + " `standby.keep` (\(DurationText.print(standby.keep)))")
    }
    return faults
  }
}
