package import Model

/// One log row: what one transaction of the leader did to the database.
///
/// It holds the final images of all rows that the transaction touched, not what was executed, so applying it
/// needs no function of ours, no clock and no order among the rows, and applying it twice is the same as once.
/// Databases at the same position are equal, table by table.
package struct LogPayload: Sendable {
  /// Raised with each change that an older version cannot read. A version also reads the format before its own.
  static let format = 1

  /// The rows of one table.
  struct Table: Hashable, Sendable {
    let name: String
    /// Rows that are gone, by their keys.
    var gone: [[StoredValue]] = []
    /// Rows that are there: their values in the order of ``TableShape/insert``.
    var there: [[StoredValue]] = []
    /// The columns of the images, so that a table with other columns is noticed.
    var columns: [String] = []
    /// The highest row number that the table ever had, if SQLite keeps it.
    var sequence: Int64?
  }

  /// Whether the database was also changed in ways that no row describes, by migrations: a replica takes a
  /// snapshot from this position or later instead of applying the row.
  package var isReset = false

  var schema = SchemaChange()
  var tables: [Table] = []
  package var reports: [CommitReport] = []

  var bytes: [UInt8] {
    var log = LogWriter()
    log.count(Self.format)
    log.flag(isReset)
    schema.write(to: &log)
    log.count(tables.count)
    for table in tables { table.write(to: &log) }
    log.count(reports.count)
    for report in reports { report.write(to: &log) }
    return log.bytes
  }

  init() {}

  package init(_ bytes: [UInt8]) throws(LogFault) {
    var log = LogReader(bytes)
    let format = try log.count()
    guard format <= Self.format else { throw .newerFormat(format) }
    isReset = try log.flag()
    schema = try SchemaChange(from: &log)
    for _ in 0..<(try log.count()) { tables.append(try Table(from: &log)) }
    for _ in 0..<(try log.count()) { reports.append(try CommitReport(from: &log)) }
    guard log.isAtEnd else { throw .malformed("there is more after the end of the row") }
  }

  /// The names of all tables whose rows or columns it changes.
  package var tableNames: Set<String> {
    Set(tables.map(\.name)).union((schema.altered + schema.made + schema.dropped).map(\.name))
  }
}

extension LogPayload.Table {
  fileprivate func write(to log: inout LogWriter) {
    log.text(name)
    log.count(columns.count)
    for column in columns { log.text(column) }
    log.count(gone.count)
    for key in gone { Self.write(key, to: &log) }
    log.count(there.count)
    for row in there { Self.write(row, to: &log) }
    log.flag(sequence != nil)
    if let sequence { log.signed(sequence) }
  }

  fileprivate init(from log: inout LogReader) throws(LogFault) {
    name = try log.text()
    for _ in 0..<(try log.count()) { columns.append(try log.text()) }
    for _ in 0..<(try log.count()) { gone.append(try Self.values(from: &log)) }
    for _ in 0..<(try log.count()) { there.append(try Self.values(from: &log)) }
    if try log.flag() { sequence = try log.signed() }
  }

  private static func write(_ values: [StoredValue], to log: inout LogWriter) {
    log.count(values.count)
    for value in values { log.value(value) }
  }

  private static func values(from log: inout LogReader) throws(LogFault) -> [StoredValue] {
    var values: [StoredValue] = []
    for _ in 0..<(try log.count()) { values.append(try log.value()) }
    return values
  }
}
