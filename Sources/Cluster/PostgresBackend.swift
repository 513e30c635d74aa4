package import Logging
internal import PostgreSQL
internal import Synchronization
internal import Transport

/// What the nodes of a cluster share, in PostgreSQL 13 or later.
package final class PostgresBackend: ClusterBackend {
  package struct Settings: Sendable {
    /// The cluster's name: its tables are in the schema `larder`, or `larder_NAME` for another name.
    package var cluster = "larder"
    /// The time of each call, with the wait for a connection.
    package var deadline = Duration.seconds(5)
    /// The time since its last beat in which a node counts as running.
    package var nodeLiveFor = Duration.seconds(10)
    /// Rows of the log in each of its partitions, where the tables are made.
    package var rowsPerPartition: Int64 = ClusterSchema.rowsPerPartition

    package init() {}
  }

  let address: PostgresAddress
  let settings: Settings
  let schema: ClusterSchema
  let pool: PostgresPool
  let doorbell: Doorbell
  let submissions: InboxSubmissions
  /// Reads and writes snapshots' files.
  let files = BlockingPool(threadsMax: 2)
  let logger: Logger

  /// Throws ``ClusterError/faulty(_:)`` for a connection string or a name that is not valid, and if libpq is
  /// missing. It does not connect.
  package init(
    _ connection: String, settings: Settings = Settings(), logger: Logger
  ) throws(ClusterError) {
    do throws(PostgresError) {
      address = try PostgresAddress(connection, silenceMax: settings.deadline)
    } catch { throw ClusterError(error) }
    schema = try ClusterSchema(cluster: settings.cluster)
    self.settings = settings
    self.logger = logger
    pool = PostgresPool(address, sessionsMax: 4, deadline: settings.deadline)
    doorbell = Doorbell(
      address, channel: schema.name, deadline: settings.deadline, logger: logger)
    submissions = InboxSubmissions(pool, schema)
  }

  package func close() async {
    doorbell.close()
    pool.close()
  }

  /// Runs one statement, or several that are safe to repeat, on a session of the pool.
  func run<Value: Sendable>(
    _ body: @escaping @Sendable (PostgresSession, LoopInstant) throws(PostgresError) -> Value
  ) async throws(ClusterError) -> Value {
    do throws(PostgresError) { return try await pool.run(body) } catch { throw ClusterError(error) }
  }
}

extension ClusterError {
  /// The error of a statement that can be repeated. That its response was lost is the same as that it was never
  /// sent.
  init(_ error: PostgresError) {
    self =
      switch error {
      case .unreachable(let reason), .lost(let reason): .unavailable(reason)
      case .unusable(let reason): .faulty(reason)
      case .server(let fault): ClusterError(fault)
      }
  }

  init(_ fault: PostgresFault) {
    if fault.isTransient {
      self = .unavailable(fault.description)
      return
    }
    self =
      switch fault.sqlState {
      case "42501":
        .faulty(
          "PostgreSQL refuses the role of `cluster.postgres` a right: \(fault.message); "
            + "make it the owner of the cluster's schema, or grant it CREATE on the database")
      case "3F000", "42P01", "42703":
        .faulty(
          "the cluster's tables are missing or not as this version made them: \(fault.message); "
            + "`larder doctor` says which, and what to do")
      default: .faulty("PostgreSQL: \(fault)")
      }
  }
}
