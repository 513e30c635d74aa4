/// The exit statuses of all commands, from `sysexits.h`.
package enum ExitStatus {
  /// By number, with the meaning.
  package static let meanings: [(status: Int32, meaning: String)] = [
    (0, "success"),
    (
      StartFailure.Kind.failed.rawValue,
      "the result is a failure: not healthy or alive, faults or breaking changes found, refused"
    ),
    (
      StartFailure.Kind.usage.rawValue,
      "the command line is wrong, or names what the service does not know"
    ),
    (
      StartFailure.Kind.faultyOperations.rawValue,
      "operations, schema, a manifest or a backup have faults"
    ),
    (
      StartFailure.Kind.noInput.rawValue,
      "a file that the command line names is missing or cannot be read"
    ),
    (
      StartFailure.Kind.addressInUse.rawValue,
      "an address to listen on is in use, or no service responds"
    ),
    (70, "the service did not stop in time and was ended; no stored data is lost"),
    (StartFailure.Kind.missingAlgorithms.rawValue, "OpenSSL lacks an algorithm"),
    (
      StartFailure.Kind.dataFolder.rawValue,
      "a folder or file cannot be written, or the data folder is in use or damaged"
    ),
    (StartFailure.Kind.upstreamUnavailable.rawValue, "upstream does not respond; try again"),
    (StartFailure.Kind.noPermission.rawValue, "the service refuses the admin token"),
    (
      StartFailure.Kind.faultySettings.rawValue,
      "settings or the key have faults, or the settings file is missing"
    ),
  ]

  /// The section of `larder --help`.
  package static var help: String {
    "Exit statuses:\n"
      + meanings.map { status, meaning in
        let number = "\(status)"
        return "  " + number + String(repeating: " ", count: 4 - number.count) + meaning
      }.joined(separator: "\n")
  }
}
