/// An upload in parts that is neither complete nor given up.
package struct UploadDescription: Hashable, Sendable {
  package let address: UploadAddress
  package let begun: Timestamp

  package init(address: UploadAddress, begun: Timestamp) {
    self.address = address
    self.begun = begun
  }
}
