/// Why a type's table stays.
package enum TableFault: Error, Hashable, Sendable {
  /// The type has none.
  case unknown
  /// Operations name the type, so the table would be made again at the next start.
  case isNamed
  case unavailable(StorageError)
}
