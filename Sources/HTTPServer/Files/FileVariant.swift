import HTTPWire
import Transport

/// One representation of a file: as it is, or compressed beforehand.
struct FileVariant {
  let file: OpenFile
  /// As conditions are judged by: without the mark of a coding, which requests lose too.
  let tag: EntityTag
  /// As it stands in the answer. Strong: a file that is written anew has another time or inode.
  let sentTag: EntityTag
  let modified: HTTPDate
  let isCompressed: Bool

  init(plain file: OpenFile) {
    self.file = file
    tag = EntityTag(Self.opaque(file))
    sentTag = tag
    modified = HTTPDate(secondsSince1970: file.modifiedSeconds)
    isCompressed = false
  }

  /// The tag names both files: either may be made anew without the other.
  init(compressed file: OpenFile, of plain: OpenFile) {
    self.file = file
    tag = EntityTag("\(Self.opaque(plain)).\(Self.opaque(file))")
    sentTag = tag.coded(.gzip)
    modified = HTTPDate(secondsSince1970: plain.modifiedSeconds)
    isCompressed = true
  }

  private static func opaque(_ file: OpenFile) -> String {
    let parts = [
      UInt64(bitPattern: file.modifiedSeconds), UInt64(bitPattern: file.modifiedNanoseconds),
      UInt64(file.byteCount), file.inode,
    ]
    return parts.map { String($0, radix: 36) }.joined(separator: ".")
  }
}
