/// A row of the log as a replica applies it.
package struct ReplicatedRow: Sendable {
  package let position: Int64
  /// The epoch of the lease under which it was written.
  package let epoch: Int64
  package let payload: [UInt8]

  package init(position: Int64, epoch: Int64, payload: [UInt8]) {
    self.position = position
    self.epoch = epoch
    self.payload = payload
  }
}
