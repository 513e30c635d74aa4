/// The exit statuses of all commands, from `sysexits.h`.
package enum ExitStatus {
  /// By number, with the meaning.
  package static let meanings: [(status: Int32, meaning: String)] = [
    (0, "success"),
    (
      StartFailure.Kind.failed.rawValue,
      "the result is a failure: not healthy, faults found, refused"
    ),
    (StartFailure.Kind.usage.rawValue, "the command line is wrong"),
    (StartFailure.Kind.faultyOperations.rawValue, "operations, schema or a backup have faults"),
    (StartFailure.Kind.noInput.rawValue, "a file to read is missing"),
    (
      StartFailure.Kind.addressInUse.rawValue,
      "an address to listen on is in use, or no service responds"
    ),
    (70, "the service did not stop in time and was ended; no stored data is lost"),
    (StartFailure.Kind.missingAlgorithms.rawValue, "OpenSSL lacks an algorithm"),
    (StartFailure.Kind.dataFolder.rawValue, "the data folder is in use, damaged or not writable"),
    (StartFailure.Kind.upstreamUnavailable.rawValue, "upstream does not respond; try again"),
    (StartFailure.Kind.noPermission.rawValue, "the service refuses the admin token"),
    (StartFailure.Kind.faultySettings.rawValue, "settings or the key have faults"),
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
