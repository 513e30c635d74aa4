/// Why a command ends before it has begun its work: the lines to show and the exit code, which
/// follows `sysexits.h`.
package struct StartFailure: Error, CustomStringConvertible {
  package enum Kind: Int32, Sendable {
    /// EX_USAGE
    case usage = 64
    /// EX_DATAERR: faulty operations or schema.
    case faultyOperations = 65
    /// EX_UNAVAILABLE: an address is in use.
    case addressInUse = 69
    /// EX_CANTCREAT: the data folder is in use or not writable.
    case dataFolder = 73
    /// EX_TEMPFAIL: upstream did not give its schema.
    case upstreamUnavailable = 75
    /// EX_CONFIG
    case faultySettings = 78
  }

  package let kind: Kind
  /// Everything that is wrong, one fault after the other.
  package let description: String

  package init(_ kind: Kind, _ description: String) {
    self.kind = kind
    self.description = description
  }
}
