/// What a change row says of its entity.
enum ChangeKind: Int64 {
  /// It is there: came into being at `created` and last changed at `revision`.
  case present = 0
  /// It is gone for those who look: deleted, or purged.
  case deleted = 1
  /// It is there for all that anybody was told, but no longer stored. Nothing is sent; once it is
  /// fetched again it changes, and does not come into being, for those who knew it.
  case evicted = 2
}
