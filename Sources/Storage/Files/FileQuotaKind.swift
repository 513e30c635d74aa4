/// Which of two bounds a write would pass.
package enum FileQuotaKind: Hashable, Sendable {
  case bucket
  case owner
}
