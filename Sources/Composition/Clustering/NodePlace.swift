import Cryptography
import FoundationEssentials
import Model
import Storage

/// The place of a node's data folder: the same for each process that opens the folder on a machine until that is
/// booted again, and another one for a copy of the folder, there or on another machine.
///
/// So a restart of a node, also after a crash, need not wait until its last report is old, and a copy that is started
/// beside it is noticed. Only a folder that has moved to another machine waits, for as long as a node counts as live.
enum NodePlace {
  private static let bootFile = "/proc/sys/kernel/random/boot_id"
  private static let digits = 32

  /// - Returns: hexadecimal digits; empty if the folder has no file of its node.
  static func name(of folder: String) -> String {
    guard let file = FileIdentity(path: "\(folder)/\(ClusterStart.nodeFileName)") else { return "" }
    let boot =
      FileManager.default.contents(atPath: bootFile)
      .map { String(decoding: $0, as: UTF8.self) } ?? ""
    let digest = SHA256.hash(data: Array("\(boot)\n\(file.device)\n\(file.inode)".utf8))
    return String(Hexadecimal.encode(digest).prefix(digits))
  }
}
