package import Endpoints

/// The parts of the service that settings switch off.
extension Settings {
  /// The parts that are on.
  package var parts: Set<ServicePart> {
    let switches: [ServicePart: Bool] = [
      .accounts: accounts.isOn, .devices: devices.isOn, .files: files.isOn, .push: push.isOn,
      .s3: s3.isOn,
    ]
    return Set(switches.filter(\.value).keys)
  }

  /// Whether callers can be verified users: with an account here, or with a token of a trusted issuer.
  var hasUsers: Bool { accounts.isOn || !accounts.issuers.isEmpty }

  /// Returns the settings without the parts that need another part that is off. Only those that no
  /// setting asks for are left: the checks refuse the others.
  func withoutDependents() -> Settings {
    var settings = self
    if !devices.isOn || !hasUsers { settings.push.isOn = false }
    if !files.isOn { settings.s3.isOn = false }
    return settings
  }
}
