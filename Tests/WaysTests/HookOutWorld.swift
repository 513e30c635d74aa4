import Cryptography
import LosslessJSON
import Model
import TestSupport
import Testing
import VendorDouble

/// A running Larder whose local types and mutations call hooks, and one device.
enum HookOutWorld {
  static let key = Array("another key of thirty-two bytes!".utf8.prefix(32))
  static let admin = ("Authorization", "Bearer \(RunningLarder.adminToken)")

  /// Starts Larder with the local types of ``Ways/ToolkitWriteTests``.
  ///
  /// - Parameter hooks: elements of `hooks.out`.
  static func start(_ hooks: [String]) async throws -> SyncWorld {
    try await Ways.ToolkitWriteTests.start(
      """
      hooks:
        outSecret: whsec_\(Base64.encode(key))
        out:
      \(hooks.map { "    - \($0)" }.joined(separator: "\n"))
      """)
  }

  /// Whether the signature of a request is valid, computed here from the specification.
  static func isSigned(_ call: HookReceiver.Call, with key: [UInt8] = key) -> Bool {
    let code = HMAC<SHA256>.authenticationCode(
      for: Array("\(call.id).\(call.timestamp).".utf8) + call.body,
      using: SymmetricKey(data: key))
    return call.signature == "v1,\(Base64.encode(Array(code)))"
  }

  static func code(_ answer: RawResponse) -> String? {
    (try? JSONValue(parsing: answer.body))?["code"]?.string
  }

  static func detail(_ answer: RawResponse) -> String? {
    (try? JSONValue(parsing: answer.body))?["detail"]?.string
  }

  /// The entry of a hook in the operators' list.
  static func summary(_ larder: RunningLarder, _ name: String) async throws -> JSONValue {
    let list = try JSONValue(parsing: try await larder.get("/v1/admin/hooks", admin).body)
    return try #require(list["out"]?.array?.first { $0["name"]?.string == name }, "\(list)")
  }
}
