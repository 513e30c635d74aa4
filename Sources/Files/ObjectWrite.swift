package import Model

/// How an object is to be written.
package struct ObjectWrite: Hashable, Sendable {
  package var attributes: ObjectAttributes
  package var condition: WriteCondition
  package var quota: FileQuota

  package init(
    attributes: ObjectAttributes = ObjectAttributes(), condition: WriteCondition = .none,
    quota: FileQuota = .none
  ) {
    self.attributes = attributes
    self.condition = condition
    self.quota = quota
  }
}
