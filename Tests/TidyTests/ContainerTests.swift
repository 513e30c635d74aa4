import Foundation
import Testing

/// The container build, as far as it can be checked without a container engine.
struct ContainerTests {
  private static func lines(of name: String) throws -> [String] {
    try String(contentsOf: SourceTree.root.appending(path: name), encoding: .utf8)
      .split(separator: "\n").map(String.init)
  }

  @Test("The build context has every file that the Dockerfile copies")
  func copiedFilesAreInTheContext() throws {
    let kept = try Self.lines(of: ".dockerignore").filter { $0.hasPrefix("!") }
      .map { String($0.dropFirst()) }
    let copied = try Self.lines(of: "Dockerfile").filter { $0.hasPrefix("COPY ") }
      .filter { !$0.contains("--from") }
      .flatMap { $0.split(separator: " ").dropFirst().dropLast().map(String.init) }
    #expect(copied.count > 3)
    for source in copied {
      let prefix = source.split(separator: "*").first.map(String.init) ?? source
      #expect(kept.contains { $0.hasPrefix(prefix) }, "\(source) is not in .dockerignore")
    }
    for name in kept {
      let path = SourceTree.root.appending(path: name).path
      #expect(FileManager.default.fileExists(atPath: path), "\(name)")
    }
  }

  @Test("The build stage has every file that the binary embeds")
  func embeddedFilesAreCopied() throws {
    let build = try Self.lines(of: "Dockerfile").drop { !$0.hasPrefix("FROM swift") }.dropFirst()
      .prefix { !$0.hasPrefix("FROM ") }
    let copied = build.filter { $0.hasPrefix("COPY ") }
      .compactMap { $0.split(separator: " ").last.map(String.init) }
    let embedded = try Self.lines(of: "Sources/CResources/resources.c")
      .filter { $0.hasPrefix("#embed ") }
      .compactMap { $0.split(separator: "\"").dropFirst().first.map(String.init) }
    #expect(embedded.count > 5)
    for name in embedded {
      let path = name.hasPrefix("../../") ? String(name.dropFirst(6)) : "Sources/CResources/\(name)"
      #expect(copied.contains { path.hasPrefix("\($0)/") }, "\(name) is not copied")
    }
  }
}
