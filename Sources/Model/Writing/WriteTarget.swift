/// Which entities of a type a write is for.
package enum WriteTarget: Sendable {
  case key(String)
  /// Every entity that it holds of, perhaps none. Only for updates and deletions.
  case filter(Filter)
}
