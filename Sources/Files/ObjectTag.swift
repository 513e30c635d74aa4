import Cryptography
import Model

/// Entity tags as S3 clients expect them, without quotes.
package enum ObjectTag {
  /// Returns the tag of content that was uploaded whole: its MD5.
  package static func whole(md5: [UInt8]) -> String { Hexadecimal.encode(md5) }

  /// Returns the tag of a multipart object: the MD5 of the parts' concatenated MD5s, and their number.
  ///
  /// - Parameter parts: each part's own tag.
  package static func parts(_ parts: [String]) -> String {
    var md5 = RunningHash<Insecure.MD5>()
    for part in parts { md5.update(data: Hexadecimal.decode(part) ?? []) }
    return "\(Hexadecimal.encode(md5.finalize()))-\(parts.count)"
  }
}
