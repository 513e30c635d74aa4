/// A part that an object was put together from.
package struct ObjectPart: Hashable, Sendable {
  package let number: Int
  package let size: Int
  package let checksum: ContentDigest?

  package init(number: Int, size: Int, checksum: ContentDigest? = nil) {
    self.number = number
    self.size = size
    self.checksum = checksum
  }
}
