package import Model

/// How a copy is to be written.
package struct CopyWrite: Hashable, Sendable {
  package var condition: WriteCondition
  package var quota: FileQuota

  package init(condition: WriteCondition = .none, quota: FileQuota = .none) {
    self.condition = condition
    self.quota = quota
  }
}
