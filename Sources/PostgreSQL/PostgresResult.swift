internal import CPostgreSQL

/// The rows of a statement, in binary form.
///
/// A column is read by the type it has: the statement casts it to `int8`, `text`, `bytea` or `bool`.
package struct PostgresResult: ~Copyable {
  private let pointer: OpaquePointer

  init(_ pointer: OpaquePointer) { self.pointer = pointer }

  deinit { larder_pq_clear(pointer) }

  package var rowCount: Int { Int(larder_pq_row_count(pointer)) }

  /// The number of rows that were inserted, changed or removed.
  package var affectedRows: Int {
    larder_pq_affected_rows(pointer).flatMap { Int(String(cString: $0)) } ?? 0
  }

  /// An `int8`; 0 if it is null.
  package func integer(_ row: Int, _ column: Int) -> Int64 {
    let bytes = field(row, column)
    precondition(bytes.count == 8 || bytes.isEmpty, "column \(column) is not an int8")
    return bytes.reduce(0) { $0 << 8 | Int64($1) }
  }

  /// A `text`; nil if it is null.
  package func optionalText(_ row: Int, _ column: Int) -> String? {
    guard larder_pq_is_null(pointer, Int32(row), Int32(column)) == 0 else { return nil }
    return String(decoding: field(row, column), as: UTF8.self)
  }

  /// A `text`; empty if it is null.
  package func text(_ row: Int, _ column: Int) -> String {
    String(decoding: field(row, column), as: UTF8.self)
  }

  /// A `bytea`; empty if it is null.
  package func bytes(_ row: Int, _ column: Int) -> [UInt8] { Array(field(row, column)) }

  /// A `bool`; false if it is null.
  package func bool(_ row: Int, _ column: Int) -> Bool { field(row, column).first == 1 }

  package func isNull(_ row: Int, _ column: Int) -> Bool {
    larder_pq_is_null(pointer, Int32(row), Int32(column)) != 0
  }

  /// The bytes as libpq holds them, until the result is released.
  private func field(_ row: Int, _ column: Int) -> UnsafeRawBufferPointer {
    precondition(row >= 0 && row < rowCount, "there is no row \(row)")
    precondition(
      column >= 0 && column < Int(larder_pq_column_count(pointer)), "no column \(column)")
    let count = Int(larder_pq_length(pointer, Int32(row), Int32(column)))
    return UnsafeRawBufferPointer(
      start: larder_pq_value(pointer, Int32(row), Int32(column)), count: count)
  }
}
