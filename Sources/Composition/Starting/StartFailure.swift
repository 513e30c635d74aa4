import Cryptography
import Storage
import Upstream

/// The reason why a command ends before it begins its work: the lines to show and the exit code, from
/// `sysexits.h`.
package struct StartFailure: Error, CustomStringConvertible {
  package enum Kind: Int32, Sendable {
    /// The command ran, and its result is a failure: not healthy, not found, refused.
    case failed = 1
    /// EX_USAGE
    case usage = 64
    /// EX_DATAERR: faulty operations or schema.
    case faultyOperations = 65
    /// EX_NOINPUT: a file that the command line names is missing or cannot be read.
    case noInput = 66
    /// EX_UNAVAILABLE: an address is in use, or no service responds.
    case addressInUse = 69
    /// EX_OSFILE: OpenSSL's configuration leaves out algorithms that the service needs.
    case missingAlgorithms = 72
    /// EX_CANTCREAT: a folder or file cannot be written, or the data folder is in use or damaged.
    case dataFolder = 73
    /// EX_TEMPFAIL: upstream did not return its schema.
    case upstreamUnavailable = 75
    /// EX_NOPERM: the service refuses the admin token.
    case noPermission = 77
    /// EX_CONFIG
    case faultySettings = 78
  }

  package let kind: Kind
  /// All faults, one after the other.
  package let description: String
  /// The same faults as values, for a report that a program reads; empty if there is only a sentence.
  let faults: [Finding]
  /// The warnings beside them.
  let warnings: [Finding]

  package init(_ kind: Kind, _ description: String) {
    self.init(kind, description, faults: [])
  }

  init(_ kind: Kind, _ description: String, faults: [Finding], warnings: [Finding] = []) {
    self.kind = kind
    self.description = description
    self.faults = faults
    self.warnings = warnings
  }
}

extension StartFailure {
  /// The fault if OpenSSL's configuration leaves out algorithms that the service needs; nil otherwise.
  static func missingAlgorithms() -> StartFailure? {
    let missing = RequiredAlgorithms.missing()
    guard !missing.isEmpty else { return nil }
    return StartFailure(
      .missingAlgorithms,
      "OpenSSL's configuration offers no \(missing.joined(separator: ", ")). The service needs them "
        + "for the formats of others, such as S3's ETags, and for sealing. Give the process a "
        + "configuration with OpenSSL's default provider, by OPENSSL_CONF.")
  }
}

/// The message for the operator when the store cannot be opened.
enum StorageStartError {
  static func text(_ error: StorageError, folder: String) -> String {
    switch error {
    case .inUse:
      "The data folder \(folder) is in use by another process. Stop that process, or set another "
        + "folder with `data` or LARDER_DATA."
    case .newerSchema:
      "The database in \(folder) was written by a newer version of Larder. Run that version, or set "
        + "another folder with `data`."
    case .cannotOpen(_, let reason):
      "The data folder \(folder) cannot be used: \(reason)."
    case .noDatabase:
      "The database of the data folder \(folder) is missing, empty, or without its write-ahead log "
        + "(larder.sqlite-wal), although the folder was used before. Restore both files or a backup. "
        + "To start with an empty database, remove \(folder)/\(DataFolder.markerFileName)."
    case .otherDatabase:
      "The database in \(folder) does not belong to this folder. Restore the right database. To use "
        + "this one with the folder's files, remove \(folder)/\(DataFolder.markerFileName)."
    case .full:
      "The disk of the data folder \(folder) is full. Free a few hundred kilobytes to start and serve "
        + "reads."
    case .readOnly:
      "The data folder \(folder) is not writable."
    case .corrupt(let message):
      "The database in \(folder) is damaged (\(message)). Restore a backup, or move the folder away."
    case .moved:
      "The database in \(folder) was removed or replaced while it was open. Restore it or a backup, "
        + "and start the service again."
    case .notLeader:
      "Another node leads the cluster."
    case .logUnavailable(let reason), .logInDoubt(let reason):
      "The log of the cluster cannot be written: \(reason)."
    case .diverged(let reason):
      "The database in \(folder) does not agree with the log of the cluster: \(reason)."
    case .otherTables(let reason):
      "The database in \(folder) is of other operations or another version than this node: \(reason)."
    case .inCluster:
      "The database in \(folder) is that of a node of a cluster, or of a machine with a standby, and neither "
        + "`cluster.postgres` nor `standby` is set. Set it, or make a single machine of it: with `larder cluster "
        + "export --to FOLDER`, or with `larder standby leave`."
    case .tooCostly, .overloaded:
      "A query of the database in \(folder) took too long."
    case .closed:
      "The store was closed while the service started."
    case .failed(let code, let message):
      "The database in \(folder) cannot be opened: \(message) (SQLite code \(code))."
    }
  }
}
