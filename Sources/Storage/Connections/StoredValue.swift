/// A value in its storage class (<https://www.sqlite.org/datatype3.html>, section 2). Texts are bytes: SQLite
/// does not check that they are UTF-8.
enum StoredValue: Hashable, Sendable {
  case null
  case integer(Int64)
  case real(Double)
  case text([UInt8])
  case blob([UInt8])
}
