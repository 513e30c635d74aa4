package import Model

/// How a device's held mutations fit the operations in force: those that do not, each with the
/// problem its client reads, and parked ones that fit again.
package struct OperationReview: Sendable {
  package var misfits: [MutationID: [UInt8]]
  package var fitting: [MutationID]

  package init(misfits: [MutationID: [UInt8]] = [:], fitting: [MutationID] = []) {
    self.misfits = misfits
    self.fitting = fitting
  }

  package var isEmpty: Bool { misfits.isEmpty && fitting.isEmpty }
}
