import Foundation
import Testing

@testable import Composition

struct ConsolePolicyTests {
  private static let folder = URL(filePath: #filePath).deletingLastPathComponent()
    .appending(path: "../../../Public").standardized.path

  private static func text(_ path: String) throws -> String {
    try String(contentsOfFile: "\(folder)/\(path)", encoding: .utf8)
  }

  @Test(
    "The policies of the console and of the demo page allow only files of this service, and neither page has scripts or styles of its own",
    arguments: ["", "/demo"])
  func pagesHoldNoScript(page: String) throws {
    let policy = PublicFolder.policy(ofPageIn: Self.folder + page)
    for directive in [
      "default-src 'none'", "script-src 'self'", "style-src 'self'", "connect-src 'self'",
    ] {
      #expect(policy.contains("\(directive);"), "\(directive)")
    }
    #expect(policy.contains("base-uri 'none'") && policy.contains("form-action 'none'"))
    #expect(!policy.contains("unsafe") && !policy.contains("http"))
    let text = try Self.text("\(page)/index.html")
    #expect(!text.contains("<style") && !text.contains(" style=\""))
    #expect(text.firstRange(of: /<script(?![^>]* src=)/) == nil)
    #expect(text.firstRange(of: /\son[a-z]+="/) == nil)
  }

  @Test(
    "The console makes no markup and no code from texts, and requests nothing of other services")
  func scriptsHandleTextsAsTexts() throws {
    let paths = try #require(FileManager.default.enumerator(atPath: "\(Self.folder)/console"))
      .compactMap { $0 as? String }.filter { $0.hasSuffix(".js") || $0.hasSuffix(".css") }
    #expect(paths.count > 20)
    let refused = [
      "innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function",
      "DOMParser", "localStorage", "@import", " url(",
    ]
    for path in paths {
      let text = try Self.text("console/\(path)")
      for word in refused { #expect(!text.contains(word), "console/\(path): \(word)") }
      // The namespace of SVG is a name; an example of a URL is a text.
      let addresses = text.matches(of: /https?:\/\/[a-z0-9.]+/).map { String($0.output) }
      #expect(
        addresses.allSatisfy { ["http://www.w3.org", "https://example.com"].contains($0) },
        "console/\(path): \(addresses)")
    }
  }

  @Test("Without the console's page, the policy allows nothing")
  func policyWithoutPage() {
    #expect(PublicFolder.policy(ofPageIn: "/nonexistent") == "default-src 'none'")
  }
}
