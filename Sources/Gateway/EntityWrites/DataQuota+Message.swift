import Model

extension DataQuota.Excess {
  /// What its client is told.
  var message: String {
    switch self {
    case .owner(let bytesMax):
      "This device or user has as much stored here as it may, \(bytesMax) bytes (devices.bytes):"
        + " delete rows, or wait until mutations that ended are forgotten."
    case .unbound(let bytesMax):
      "Devices without a user have as much stored here as they may together, \(bytesMax) bytes"
        + " (devices.unboundBytes): sign in, or delete rows."
    }
  }
}
