/// An upload in parts: where its object will be, and which one it is.
package struct UploadAddress: Hashable, Sendable {
  package let object: ObjectAddress
  package let id: String

  package init(object: ObjectAddress, id: String) {
    self.object = object
    self.id = id
  }
}
