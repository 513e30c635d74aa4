internal import PostgreSQL

/// The tables of a cluster in PostgreSQL, version 1, to which later releases can add columns with defaults. All names are qualified with the schema, so that a pooler's
/// or a role's search path does not matter.
struct ClusterSchema: Sendable {
  /// Of the tables. A node refuses newer ones.
  static let version: Int64 = 1
  /// Rows of the log in each of its partitions, which are dropped as a whole. The tables keep the number that
  /// they were made with.
  static let rowsPerPartition: Int64 = 16_384

  /// The schema's name, and that of the channel for notifications.
  let name: String

  /// Throws a text if the cluster's name cannot be a part of the schema's.
  init(cluster: String) throws(ClusterError) {
    let allowed = "abcdefghijklmnopqrstuvwxyz0123456789_-"
    guard !cluster.isEmpty, cluster.utf8.count <= 40, cluster.allSatisfy(allowed.contains) else {
      throw .faulty(
        "the cluster's name `\(cluster)` must have 1 to 40 of the characters a to z, 0 to 9, _ and -"
      )
    }
    name = cluster == "larder" ? "larder" : "larder_\(cluster)"
  }

  var schema: String { "\(PostgresIdentifier(name))" }
  var versions: String { "\(schema).version" }
  var lease: String { "\(schema).lease" }
  var log: String { "\(schema).log" }
  var inbox: String { "\(schema).inbox" }
  var inboxNumber: String { "\(schema).inbox_number" }
  var nodes: String { "\(schema).node" }
  var snapshots: String { "\(schema).snapshot" }
  var snapshotID: String { "\(schema).snapshot_id" }

  func partition(_ index: Int64) -> String { "\(schema).log_\(index)" }
  func chunks(_ snapshot: Int64) -> String { "\(schema).snapshot_\(snapshot)" }

  /// The key of an advisory lock: FNV-1a of the schema's name and what the lock is for. Locks of other
  /// applications in the same database can have the same key only by a chance of 2⁻⁶⁴; then they wait.
  func lock(_ purpose: String) -> Int64 {
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    for byte in "\(name)/\(purpose)".utf8 {
      hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3
    }
    return Int64(bitPattern: hash)
  }

  /// Creates everything within the schema, in one transaction.
  func creation(rowsPerPartition: Int64) -> [String] {
    [
      "CREATE TABLE \(versions) (single bool PRIMARY KEY DEFAULT true CHECK (single), "
        + "number int8 NOT NULL, log_partition int8 NOT NULL, "
        + "cluster text NOT NULL DEFAULT gen_random_uuid()::text)",
      "INSERT INTO \(versions) (number, log_partition) VALUES (\(Self.version), \(rowsPerPartition))",
      // Its one row changes each second: room in the page for the versions that are not yet removed.
      "CREATE TABLE \(lease) (single bool PRIMARY KEY DEFAULT true CHECK (single), "
        + "epoch int8 NOT NULL, node text NOT NULL, url text NOT NULL, digest text NOT NULL, "
        + "until timestamptz NOT NULL, length interval NOT NULL, heir text, heir_until timestamptz) "
        + "WITH (fillfactor = 20)",
      "INSERT INTO \(lease) (epoch, node, url, digest, until, length) "
        + "VALUES (0, '', '', '', '-infinity', '0')",
      "CREATE TABLE \(log) (position int8 PRIMARY KEY, epoch int8 NOT NULL, payload bytea NOT NULL, "
        + "at timestamptz NOT NULL DEFAULT now()) PARTITION BY RANGE (position)",
    ] + partitionCreation(0, rowsPerPartition: rowsPerPartition) + [
      // The row before the first one, so that each row has one before it.
      "INSERT INTO \(log) (position, epoch, payload) VALUES (0, 0, '')",
      inboxCreation, "CREATE SEQUENCE \(inboxNumber)", nodesCreation, snapshotsCreation,
      "CREATE SEQUENCE \(snapshotID)",
    ]
  }

  private var inboxCreation: String {
    "CREATE TABLE \(inbox) (number int8 PRIMARY KEY, device text NOT NULL, key text NOT NULL, "
      + "body bytea NOT NULL, at timestamptz NOT NULL DEFAULT now(), UNIQUE (device, key))"
  }

  private var nodesCreation: String {
    "CREATE TABLE \(nodes) (id text PRIMARY KEY, url text NOT NULL, position int8 NOT NULL, "
      + "version text NOT NULL, digest text NOT NULL, candidate bool NOT NULL, "
      + "seen timestamptz NOT NULL, place text NOT NULL DEFAULT '') WITH (fillfactor = 50)"
  }

  private var snapshotsCreation: String {
    "CREATE TABLE \(snapshots) (id int8 PRIMARY KEY, position int8 NOT NULL, bytes int8 NOT NULL, "
      + "sha256 bytea NOT NULL, made timestamptz NOT NULL DEFAULT now(), version text NOT NULL)"
  }

  // MARK: What is missing

  /// The tables without which the log or the lease is lost.
  static let irreplaceable = ["version", "lease", "log"]

  /// The tables and sequences that can be created again, by name.
  ///
  /// - Parameter millisecond: the present one since 1970, with which lost sequences begin: it is larger than any
  ///   number that they have given.
  func repairs(at millisecond: Int64) -> [(name: String, statement: String)] {
    [
      ("inbox", inboxCreation),
      ("inbox_number", "CREATE SEQUENCE \(inboxNumber) START \(millisecond)"),
      ("node", nodesCreation), ("snapshot", snapshotsCreation),
      ("snapshot_id", "CREATE SEQUENCE \(snapshotID) START \(millisecond)"),
    ]
  }

  /// The names of all, but for those of partitions and chunks.
  var names: [String] { Self.irreplaceable + repairs(at: 0).map(\.name) }

  /// Adds what tables of an earlier release do not have.
  var additions: [String] {
    ["ALTER TABLE \(nodes) ADD COLUMN IF NOT EXISTS place text NOT NULL DEFAULT ''"]
  }

  /// Creates one partition of the log and attaches it, which blocks neither readers nor the appending session
  /// longer than a change of the catalogue takes.
  func partitionCreation(_ index: Int64, rowsPerPartition: Int64) -> [String] {
    let name = partition(index)
    let start = index * rowsPerPartition
    return [
      "CREATE TABLE \(name) (LIKE \(log) INCLUDING DEFAULTS INCLUDING CONSTRAINTS)",
      // Payloads are compressed already.
      "ALTER TABLE \(name) ALTER COLUMN payload SET STORAGE EXTERNAL",
      "ALTER TABLE \(log) ATTACH PARTITION \(name) "
        + "FOR VALUES FROM (\(start)) TO (\(start + rowsPerPartition))",
    ]
  }
}
