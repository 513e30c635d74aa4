import Foundation
import Testing

@testable import Composition

struct ShippedFilesTests {
  private static let root = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  @Test(
    "The binary contains the pages, the client library, the example, the demo's words and the OpenAPI document as the folders have them"
  )
  func contentsAreTheFolders() throws {
    var wanted: [String: [UInt8]] = [:]
    for folder in ["Public", "Examples/films", ClientLibrary.folder] {
      let paths = try #require(
        FileManager.default.enumerator(atPath: Self.root.appending(path: folder).path))
      for case let path as String in paths where !path.hasPrefix("data") {
        // What only Node and editors use is not served.
        if path == "node.js" || path.hasSuffix(".d.ts") { continue }
        let file = Self.root.appending(path: "\(folder)/\(path)")
        guard let data = try? Data(contentsOf: file) else { continue }
        wanted["\(folder)/\(path)"] = Array(data)
      }
    }
    #expect(wanted.count > 5)
    for path in [OpenAPIResource.path, "Sources/CResources/demo-words.json"] {
      wanted[path] = Array(try Data(contentsOf: Self.root.appending(path: path)))
    }
    let embedded = ShippedFiles.embedded
    #expect(Set(embedded.map(\.path)) == Set(wanted.keys))
    for file in embedded { #expect(file.bytes == wanted[file.path], "\(file.path)") }
  }

  @Test("Embedded files are unpacked where only this user can read them")
  func unpacking() throws {
    let folder = try ShippedFiles.unpack()
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let mode = try FileManager.default.attributesOfItem(atPath: folder)[.posixPermissions] as? Int
    #expect(mode == 0o700)
    let page = try Data(contentsOf: URL(filePath: "\(folder)/Public/index.html"))
    #expect(page == (try Data(contentsOf: Self.root.appending(path: "Public/index.html"))))
    #expect(ShippedFiles.isFolder("\(folder)/Examples/films/operations"))
    #expect(!ShippedFiles.isFolder("\(folder)/Sources"))
    #expect(!ShippedFiles.isFolder("\(folder)/Clients"))
    #expect(ShippedFiles.isFolder("\(folder)/Public/demo"))
    let other = try ShippedFiles.unpack()
    #expect(other != folder)
    try FileManager.default.removeItem(atPath: other)
  }
}
