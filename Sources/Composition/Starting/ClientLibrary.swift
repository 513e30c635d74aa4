import Cryptography
import Endpoints
import FoundationEssentials

/// The JavaScript client library inside the binary.
enum ClientLibrary {
  /// The folder of its modules, relative to the root of the sources.
  static let folder = "Clients/JavaScript/src"

  /// The bytes of a digest that are part of a tag.
  private static let digestBytes = 12

  /// Returns a module by the name of its file; nil if the binary has none of that name.
  static func file(_ name: String) -> ClientLibraryFile? {
    guard let file = ShippedFiles.embedded.first(where: { $0.path == "\(folder)/\(name)" }) else {
      return nil
    }
    let digest = SHA256.hash(data: file.bytes).prefix(digestBytes)
    let text = Data(digest).base64EncodedString()
      .replacing("+", with: "-").replacing("/", with: "_")
    return ClientLibraryFile(bytes: file.bytes, tag: "\(Version.text)-\(text)")
  }
}
